/** NodePools of a simulated cluster, and their SpotPolicies. */
import {
  CAPACITY_TYPES,
  LABEL_CAPACITY_TYPE,
  LABEL_INSTANCE_TYPE,
  LABEL_ZONE,
} from '../../../src/apis/karpenter/labels.ts';
import type { NodePool } from '../../../src/apis/karpenter/node-pool.ts';
import type { SpotPolicy } from '../../../src/apis/spindrift/spot-policy.ts';
import type { Random } from '../../../src/platform/random.ts';
import { TYPE_NAMES, ZONES } from './account.ts';
import { chance, maybe, some } from './chance.ts';

/** The pool that every pod can use: all zones and sizes, on-demand included, no taints. */
export const GENERAL = 'general';
/** Keeps pods without a toleration off the nodes of a pool. */
export const TEAM_TAINT = { key: 'team', value: 'batch', effect: 'NoSchedule' } as const;

const BUDGETS = [
  [{ nodes: '1' }],
  [{ nodes: '2' }],
  [{ nodes: '30%' }],
  [{ nodes: '100%' }],
  [{ nodes: '50%' }, { nodes: '1', reasons: ['Drifted'] }],
  [{ nodes: '2' }, { nodes: '0', reasons: ['Underutilized'] }],
  // Closed for the first ten minutes of every half hour.
  [{ nodes: '50%' }, { nodes: '0', schedule: '*/30 * * * *', duration: '10m' }],
  [{ nodes: '2' }, { nodes: '0', schedule: '0 * * * *', duration: '20m', reasons: ['Underutilized', 'Empty'] }],
] as const;

export function drawPools(random: Random): readonly NodePool[] {
  const others = random.pick([0, 1, 1, 2]);
  const names = [GENERAL, ...Array.from({ length: others }, (_, index) => `pool-${index + 1}`)];
  return names.map((name) => drawPool(random.split(name), name));
}

function drawPool(random: Random, name: string): NodePool {
  const general = name === GENERAL;
  const capacityTypes = general
    ? [...new Set(['on-demand', ...some(random, CAPACITY_TYPES)])]
    : [...some(random, CAPACITY_TYPES)];
  const requirements = [
    { key: LABEL_CAPACITY_TYPE, operator: 'In', values: capacityTypes },
    ...(general || chance(random, 0.6)
      ? []
      : [{ key: LABEL_INSTANCE_TYPE, operator: 'In', values: some(random, TYPE_NAMES) }]),
    ...(general || chance(random, 0.7) ? [] : [{ key: LABEL_ZONE, operator: 'In', values: some(random, ZONES) }]),
  ];
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name, labels: { spot: random.pick(['careful', 'bold']) } },
    spec: {
      ...maybe(random, general ? 0 : 0.4, () => ({ weight: 1 + random.below(50) })),
      ...maybe(random, general ? 0.2 : 0.5, () => ({ limits: drawLimits(random) })),
      template: {
        metadata: { labels: { pool: name } },
        spec: {
          requirements,
          nodeClassRef: { group: 'spindrift.dev', kind: 'SimulatedNodeClass', name: 'default' },
          expireAfter: random.pick(['Never', 'Never', 'Never', '50m', '3h']),
          ...maybe(random, 0.4, () => ({ terminationGracePeriod: random.pick(['1m', '5m', '20m']) })),
          ...maybe(random, general ? 0 : 0.3, () => ({ taints: [TEAM_TAINT] })),
        },
      },
      disruption: {
        consolidationPolicy: random.pick(['WhenEmpty', 'WhenEmptyOrUnderutilized', 'WhenEmptyOrUnderutilized']),
        consolidateAfter: random.pick(['0s', '30s', '2m', '10m', 'Never']),
        budgets: random.pick(BUDGETS),
      },
    },
  } as unknown as NodePool;
}

/** A user's edit of a pool in use. */
export function drawPoolEdit(random: Random): object {
  return random.pick([
    { disruption: { budgets: random.pick(BUDGETS) } },
    { disruption: { consolidateAfter: random.pick(['0s', '5m', 'Never']) } },
    { weight: 1 + random.below(50) },
    { template: { spec: { terminationGracePeriod: random.pick(['2m', '15m']) } } },
    { template: { spec: { taints: random.pick([[], [{ key: 'soft', effect: 'PreferNoSchedule' }]]) } } },
  ]);
}

function drawLimits(random: Random): Record<string, string> {
  return chance(random, 0.7) ? { cpu: random.pick(['8', '16', '32']) } : { nodes: random.pick(['2', '4', '8']) };
}

export function drawPolicies(random: Random): readonly SpotPolicy[] {
  return ['careful', 'bold']
    .filter(() => chance(random, 0.6))
    .map(
      (spot): SpotPolicy =>
        ({
          apiVersion: 'spindrift.dev/v1alpha1',
          kind: 'SpotPolicy',
          metadata: { name: spot },
          spec: {
            nodePoolSelector: { matchLabels: { spot } },
            ...maybe(random, 0.7, () => ({
              onDemand: { base: random.below(3), percent: random.pick([0, 10, 50]) },
            })),
            ...maybe(random, 0.6, () => ({ maxPercentPerSpotPool: random.pick([25, 50]) })),
            ...maybe(random, 0.5, () => ({ onRebalance: random.pick(['Cordon', 'Replace']) })),
            ...maybe(random, 0.3, () => ({ returnToSpot: { after: random.pick(['5m', 'Never']) } })),
          },
        }) as unknown as SpotPolicy,
    );
}
