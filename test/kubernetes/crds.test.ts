import { expect, inject, it } from 'vitest';
import { connect } from '../../src/kube/connect.ts';
import { RealClock } from '../../src/platform/real-clock.ts';
import { describeKinds } from '../kinds/kinds.conformance.ts';
import { ACCEPTED } from '../kinds/manifests.ts';
import { Kubectl } from './harness/kubectl.ts';

describeKinds(
  'on kube-apiserver',
  async () => {
    const { kubeconfig } = inject('controlPlane');
    const { client, connection } = await connect({ clock: new RealClock(), kubeconfig });
    return { client, close: () => connection.close() };
  },
  () => {
    it.each([
      ['a pool for general purposes', 'NAME NODECLASS NODES READY AGE WEIGHT CPU MEMORY'],
      ['a claim', 'NAME TYPE CAPACITY ZONE NODE READY AGE IMAGEID ID NODEPOOL NODECLASS DRIFTED'],
      ['a node class with everything', 'NAME READY AGE TYPES ZONES'],
      ['a spot policy with everything', 'NAME READY PRIORITY SPOT ONDEMAND REBALANCE AGE NODEPOOLS MESSAGE'],
    ])('are shown by kubectl in the columns that people know: %s', async (what, columns) => {
      const { kubeconfig, binaries } = inject('controlPlane');
      const kubectl = new Kubectl(binaries.kubectl, kubeconfig);
      const manifest = ACCEPTED[what]!;
      await kubectl.apply(manifest);
      const [header = ''] = (await kubectl.run(['get', manifest.kind, '--output=wide'])).split('\n');
      expect(header.trim().split(/\s+/).join(' ')).toBe(columns);
      await kubectl.run(['delete', manifest.kind, manifest.metadata.name]);
    });
  },
);
