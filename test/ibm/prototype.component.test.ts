import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { IBMNodeClass } from '../../src/apis/ibm/ibm-node-class.ts';
import { instancePrototype } from '../../src/cloud/ibm/launch/instance-prototype.ts';
import { pythonJudges } from './judge/python-judges.ts';
import { localIbm, offering } from './testkit/local-ibm.ts';

const judges = await pythonJudges();
const missing = typeof judges === 'string' ? judges : '';
const SPOT = offering('bxf-4x16', 'us-south-1', 'spot');
const ON_DEMAND = offering('bx2-4x16', 'us-south-2', 'on-demand');

describe.skipIf(missing !== '')(`prototypes of machines ${missing}`, () => {
  it('are what the official SDK knows, every field of them', async () => {
    const { nodeClass } = await localIbm();
    const of = (chosen: typeof SPOT, changes: Partial<IBMNodeClass['spec']> = {}, status: object = {}) =>
      instancePrototype({
        name: 'karp-0123456789-00000000000000000000000000000000',
        nodeClass: {
          ...nodeClass,
          spec: { ...nodeClass.spec, ...changes },
          status: { ...nodeClass.status, ...status } as NonNullable<IBMNodeClass['status']>,
        },
        offering: chosen,
        subnetId: nodeClass.status?.selectedSubnets?.[0] ?? '',
        userData: '#cloud-config\n{}\n',
        tags: ['karpenter.sh/cluster:demo'],
      });
    const volumes = [
      {
        rootVolume: true,
        volumeSpec: {
          capacity: 200,
          profile: 'custom',
          iops: 6000,
          bandwidth: 1000,
          encryptionKeyID: 'crn:v1:key',
          deleteOnTermination: true,
          tags: ['a'],
        },
      },
      { deviceName: 'data', volumeSpec: { capacity: 1000, deleteOnTermination: false } },
    ];
    const prototypes = [
      of(SPOT),
      of(ON_DEMAND),
      of(SPOT, { placementTarget: 'r006-spread' }, { placementTargetKind: 'PlacementGroup' }),
      of(ON_DEMAND, { placementTarget: '0717-host' }, { placementTargetKind: 'DedicatedHost' }),
      of(ON_DEMAND, {
        reservationAffinity: { policy: 'manual', pool: ['0717-reservation'] },
        blockDeviceMappings: volumes,
      }),
    ];
    const { python } = judges as { python: string };
    const said = execFileSync(python, [join(import.meta.dirname, 'judge', 'prototype.py')], {
      input: JSON.stringify(prototypes),
      encoding: 'utf8',
    });
    expect(said.trim().split('\n')).toHaveLength(prototypes.length);
    expect(prototypes[0]).toMatchObject({
      availability: { class: 'spot' },
      reservation_affinity: { policy: 'disabled' },
    });
    expect(prototypes[0]).not.toHaveProperty('placement_target');
    expect(prototypes[1]).not.toHaveProperty('reservation_affinity');
    expect(prototypes[3]).toMatchObject({
      placement_target: { id: '0717-host' },
      reservation_affinity: { policy: 'disabled' },
    });
  });
});
