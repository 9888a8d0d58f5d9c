import { describe, expect, it } from 'vitest';
import { aNodePool } from '../../../apis/karpenter/testkit/a-node-pool.ts';
import { buildFleet, type FleetSnapshot } from '../../../state/build-fleet.ts';
import {
  aFleetSnapshot,
  aPodBudget,
  aRunningPod,
  type FleetSnapshotParts,
  MACHINES,
} from '../../../state/testkit/a-fleet-snapshot.ts';
import { aStateNode, ON_DEMAND } from '../../../state/testkit/a-state-node.ts';
import { budgetsOf, plannedFleet } from './testkit/planned-fleet.ts';
import { type Objection, Validation } from './validation.ts';

const a = aStateNode({ name: 'a' });
const b = aStateNode({ name: 'b' });
const web = (name: string, node: string) => aRunningPod(name, node);
/** Node a goes, its pod lands on b. */
const MERGE: FleetSnapshotParts = { nodes: [a, b], pods: [web('1', 'a'), web('2', 'b'), web('3', 'b')] };
/** Node a goes for a cheaper one. */
const LARGE = { ...ON_DEMAND, instanceType: 'm5.2xlarge', price: 0.4 };
const large = aStateNode({ name: 'a', launched: LARGE, allocatable: { cpu: '8', memory: '32Gi', pods: '29' } });
const REPLACE: FleetSnapshotParts = { nodes: [large], pods: [web('1', 'a')] };

/** What is wrong with the commands of one cluster on another. */
function objections(planned: FleetSnapshotParts, changes: FleetSnapshotParts): (Objection | undefined)[] {
  const { built, now } = plannedFleet(aFleetSnapshot(planned));
  const later: FleetSnapshot = aFleetSnapshot({ ...planned, ...changes });
  const validation = new Validation({ planned: built, fresh: buildFleet(later), budgets: budgetsOf(later) });
  expect(now.length).toBeGreaterThan(0);
  return now.map((one) => validation.objection(one));
}

describe('a command that was planned a moment ago', () => {
  it('is still right when nothing has changed, or pods have left', () => {
    expect(objections(MERGE, {})).toEqual([undefined]);
    expect(objections(MERGE, { pods: [web('2', 'b')] })).toEqual([undefined]);
    expect(objections(REPLACE, {})).toEqual([undefined]);
  });

  it.each<[string, FleetSnapshotParts, FleetSnapshotParts, Objection['kind'], string]>([
    ['its node is gone', MERGE, { nodes: [b] }, 'churn', 'node a is gone'],
    [
      'another node has its name',
      MERGE,
      { nodes: [{ ...a, claim: { ...a.claim, metadata: { ...a.claim.metadata, uid: 'new' } } }, b] },
      'churn',
      'node a is gone',
    ],
    [
      'its node is held',
      MERGE,
      { isNominated: ({ name }) => name === 'a' },
      'churn',
      'node a may not be disrupted now: nominated',
    ],
    [
      'a pod has come to its node',
      MERGE,
      { pods: [...(MERGE.pods ?? []), web('9', 'a')] },
      'churn',
      'pod default/9 was scheduled to node a',
    ],
    [
      'one of its pods wants to stay',
      MERGE,
      { pods: [aRunningPod('1', 'a', { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } })] },
      'churn',
      'default/1 must not be disrupted',
    ],
    [
      'a daemon of its node wants to stay',
      MERGE,
      {
        pods: [
          ...(MERGE.pods ?? []),
          aRunningPod('agent', 'a', {
            annotations: { 'karpenter.sh/do-not-disrupt': 'true' },
            ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: 'agent' }],
          }),
        ],
      },
      'churn',
      'pod default/agent of node a may not be evicted',
    ],
    [
      'a PodDisruptionBudget has been used up',
      { ...MERGE, disruptionBudgets: [aPodBudget(1)] },
      { disruptionBudgets: [aPodBudget(0)] },
      'budget',
      'PodDisruptionBudget default/web allows too few evictions',
    ],
    [
      'the budget of its pool has been used up',
      MERGE,
      { nodePools: [aNodePool({ spec: { disruption: { budgets: [{ nodes: '0' }] } } })] },
      'budget',
      'allow no more disruptions for the reason Underutilized',
    ],
    ['the node it lands on is gone', MERGE, { nodes: [a] }, 'scheduling', 'node b no longer accepts its pods'],
    [
      'the node it lands on is closed',
      MERGE,
      { nodes: [a, aStateNode({ name: 'b', node: { unschedulable: true } })] },
      'scheduling',
      'node b no longer accepts its pods',
    ],
    [
      'the node it lands on has other taints',
      MERGE,
      { nodes: [a, aStateNode({ name: 'b', node: { taints: [{ key: 'team', effect: 'NoSchedule' }] } })] },
      'scheduling',
      'node b no longer accepts its pods',
    ],
    [
      'the node it lands on is full',
      MERGE,
      { pods: [...(MERGE.pods ?? []), web('4', 'b'), web('5', 'b')] },
      'scheduling',
      'node b has too little cpu left',
    ],
    [
      'what it wants to launch cannot be had',
      REPLACE,
      {
        pools: [
          {
            pool: aNodePool(),
            instanceTypes: MACHINES.map((type) => ({
              ...type,
              offerings: type.offerings.map((offering) => ({ ...offering, healthy: false })),
            })),
          },
        ],
      },
      'scheduling',
      'm5.large spot in sim-1a is no longer available',
    ],
    [
      'what it wants to launch has become dear',
      REPLACE,
      {
        pools: [
          {
            pool: aNodePool(),
            instanceTypes: MACHINES.map((type) => ({
              ...type,
              offerings: type.offerings.map((offering) => ({ ...offering, price: 0.4 })),
            })),
          },
        ],
      },
      'scheduling',
      'prices have changed',
    ],
  ])('is dropped when %s', (_, planned, changes, kind, because) => {
    expect(objections(planned, changes)).toEqual([{ kind, because: expect.stringContaining(because) }]);
  });

  it('is dropped when an earlier one has used up what both need', () => {
    const nodes = ['a', 'b', 'c', 'd'].map((name) => aStateNode({ name }));
    const poolOf = (most: string) => [aNodePool({ spec: { disruption: { budgets: [{ nodes: most }] } } })];
    const planned = { nodes, pods: [web('1', 'a'), web('2', 'b')], nodePools: poolOf('100%') };
    expect(objections(planned, {})).toEqual([undefined, undefined, undefined]);
    expect(objections(planned, { nodePools: poolOf('2') })).toEqual([
      undefined,
      undefined,
      { kind: 'budget', because: expect.anything() },
    ]);
  });
});
