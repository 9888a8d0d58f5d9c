import { expect, it } from 'vitest';
import { aType } from '../cloud/simulated/testkit/small-account.ts';
import type { NewNode } from '../engine/solution.ts';
import { ANNOTATION_PLANNED_DAEMONS, daemonsOf, plannedDaemons, writeDaemons } from './planned-daemons.ts';
import { aStateNode } from './testkit/a-state-node.ts';

const NODE: NewNode = {
  pool: 'general',
  requirements: [{ key: 'team', operator: 'In', values: ['web'] }],
  offerings: [{ instanceType: 'small', zone: 'zone-a', capacityType: 'spot', price: 1 }],
  ...{ price: 1, pods: [], requests: {} },
};

it('sums the daemons that run on the node as it is planned', () => {
  const on = (key: string, value: string) => [[{ key, operator: 'In' as const, values: [value] }]];
  const daemons = [
    { name: 'everywhere', requests: { cpu: 100 }, tolerations: [{ operator: 'Exists' as const }] },
    {
      name: 'linux',
      requests: { cpu: 20 },
      requirements: on('kubernetes.io/os', 'linux'),
      tolerations: [{ key: 'dedicated', operator: 'Exists' as const }],
    },
    {
      name: 'elsewhere',
      requests: { cpu: 3 },
      requirements: on('topology.kubernetes.io/zone', 'zone-b'),
      tolerations: [{ operator: 'Exists' as const }],
    },
    { name: 'intolerant', requests: { cpu: 4 } },
  ];
  const pools = [{ name: 'general', taints: [{ key: 'dedicated', effect: 'NoSchedule' as const }] }];
  expect(daemonsOf(NODE, { pods: [], pools, instanceTypes: [aType('small', 2)], daemons })).toEqual({ cpu: 120 });
});

it('is read from a claim as it was written', () => {
  const annotations = { [ANNOTATION_PLANNED_DAEMONS]: writeDaemons({ cpu: 100, memory: 1024 }) };
  expect(plannedDaemons(aStateNode({ claimAnnotations: annotations }).claim)).toEqual({ cpu: 100, memory: 1024 });
  expect(plannedDaemons(aStateNode().claim)).toBeUndefined();
});
