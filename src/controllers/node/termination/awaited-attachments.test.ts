import { describe, expect, it } from 'vitest';
import type { Volume } from '../../../apis/kubernetes/pod.ts';
import type { VolumeAttachment } from '../../../apis/kubernetes/volume-attachment.ts';
import type { PersistentVolumeClaim } from '../../../apis/kubernetes/volumes.ts';
import { toTimestamp } from '../../../platform/clock.ts';
import { aPod, later, T0 } from '../../testkit/objects.ts';
import { awaitedAttachments } from './awaited-attachments.ts';

const attached: VolumeAttachment = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'VolumeAttachment',
  metadata: { name: 'attached' },
  spec: { attacher: 'csi', nodeName: 'node', source: { persistentVolumeName: 'pv' } },
};
const claimed: Volume = { name: 'data', persistentVolumeClaim: { claimName: 'db-data' } };
const ephemeral: Volume = { name: 'data', ephemeral: {} };
const storage = {
  claim: (namespace: string, name: string) =>
    namespace === 'default' && name === 'db-data'
      ? ({ spec: { volumeName: 'pv' } } as PersistentVolumeClaim)
      : undefined,
};

describe.each([
  ['with a claim', claimed],
  ['that is ephemeral', ephemeral],
])('the attachment of a volume %s', (_, volume) => {
  const leaving = aPod({
    name: 'db',
    metadata: { deletionTimestamp: toTimestamp(T0) },
    spec: { volumes: [volume] },
  });

  it('is waited for when its pod has left, or leaves', () => {
    expect(awaitedAttachments([attached], [], storage, T0)).toEqual([attached]);
    expect(awaitedAttachments([attached], [leaving], storage, later(60_000))).toEqual([attached]);
  });

  it('is not waited for when its pod stays by its own wish, or is stuck', () => {
    const stays = aPod({ name: 'db', spec: { volumes: [volume], tolerations: [{ operator: 'Exists' }] } });
    expect(awaitedAttachments([attached], [stays], storage, T0)).toEqual([]);
    expect(awaitedAttachments([attached], [leaving], storage, later(60_001))).toEqual([]);
  });
});

it('an attachment that names no volume is waited for by nobody', () => {
  const inline = { ...attached, spec: { ...attached.spec, source: {} } };
  expect(awaitedAttachments([inline], [], storage, T0)).toEqual([]);
});
