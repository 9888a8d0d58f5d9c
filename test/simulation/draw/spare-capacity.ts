/** Static pools and CapacityBuffers of a simulated cluster, and their events. Drawn separately. */
import type { CapacityBuffer } from '../../../src/apis/autoscaling/capacity-buffer.ts';
import { LABEL_CAPACITY_TYPE } from '../../../src/apis/karpenter/labels.ts';
import type { NodePool } from '../../../src/apis/karpenter/node-pool.ts';
import type { PodTemplate } from '../../../src/apis/kubernetes/pod-template.ts';
import type { Random } from '../../../src/platform/random.ts';
import { chance, maybe } from './chance.ts';
import type { Happening } from './happenings.ts';
import { TEAM_TAINT } from './pools.ts';

export const FIXED = 'fixed';

export interface SpareCapacity {
  readonly pools: readonly NodePool[];
  readonly templates: readonly PodTemplate[];
  readonly buffers: readonly CapacityBuffer[];
}

export function drawSpareCapacity(random: Random): SpareCapacity {
  const pools = chance(random, 0.4) ? [drawFixedPool(random.split(FIXED))] : [];
  const names = chance(random, 0.4) ? ['spare-a', ...(chance(random, 0.3) ? ['spare-b'] : [])] : [];
  return {
    pools,
    templates: names.map((name) => drawTemplate(random.split(`template ${name}`), name)),
    buffers: names.map((name) => drawBuffer(random.split(name), name)),
  };
}

function drawFixedPool(random: Random): NodePool {
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name: FIXED, labels: { spot: random.pick(['careful', 'bold']) } },
    spec: {
      replicas: 1 + random.below(4),
      ...maybe(random, 0.5, () => ({ limits: { nodes: `${2 + random.below(5)}` } })),
      template: {
        metadata: { labels: { pool: FIXED } },
        spec: {
          requirements: [
            { key: LABEL_CAPACITY_TYPE, operator: 'In', values: random.pick([['on-demand'], ['on-demand', 'spot']]) },
          ],
          nodeClassRef: { group: 'spindrift.dev', kind: 'SimulatedNodeClass', name: 'default' },
          expireAfter: random.pick(['Never', 'Never', '50m']),
          terminationGracePeriod: random.pick(['1m', '5m']),
          ...maybe(random, 0.5, () => ({ taints: [TEAM_TAINT] })),
        },
      },
      disruption: { consolidateAfter: '0s', budgets: random.pick([[{ nodes: '1' }], [{ nodes: '50%' }]]) },
    },
  } as unknown as NodePool;
}

function drawTemplate(random: Random, name: string): PodTemplate {
  const requests = { cpu: random.pick(['500m', '1', '1500m']), memory: random.pick(['256Mi', '1Gi']) };
  const apart = { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { spare: name } } };
  return {
    apiVersion: 'v1',
    kind: 'PodTemplate',
    metadata: { namespace: 'default', name },
    template: {
      metadata: { labels: { spare: name } },
      spec: {
        containers: [{ name: 'main', image: 'app', resources: { requests } }],
        ...maybe(random, 0.3, () => ({
          affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [apart] } },
        })),
      },
    },
  };
}

function drawBuffer(random: Random, name: string): CapacityBuffer {
  return {
    apiVersion: 'autoscaling.x-k8s.io/v1beta1',
    kind: 'CapacityBuffer',
    metadata: { namespace: 'default', name },
    spec: { podTemplateRef: { name }, replicas: 1 + random.below(4) },
  } as CapacityBuffer;
}

const MINUTE = 60_000;

/** Their events within these hours; `afterMs` counts from the beginning. */
export function drawSpareHappenings(random: Random, hours: number, { pools, buffers }: SpareCapacity): Happening[] {
  const count = (pools.length + buffers.length) * hours * 2;
  return Array.from({ length: count }, (_, index): Happening => {
    const each = random.split(`${index}`);
    const afterMs = each.below(hours * 60) * MINUTE + each.below(MINUTE);
    const ofPool = pools.length > 0 && (buffers.length === 0 || chance(each, 0.5));
    if (ofPool) return { what: 'scale pool', replicas: each.below(6), afterMs };
    const { name = '' } = each.pick(buffers).metadata;
    return { what: 'resize buffer', name, replicas: each.pick([0, 1, 2, 4, 6]), afterMs };
  });
}

/** Merges both in order of time. `afterMs` of `others` counts from the beginning. */
export function merged(happenings: readonly Happening[], others: readonly Happening[]): readonly Happening[] {
  let at = 0;
  const timed = happenings.map((happening) => {
    at += happening.afterMs;
    return { happening, at };
  });
  const all = [...timed, ...others.map((happening) => ({ happening, at: happening.afterMs }))];
  let before = 0;
  return all
    .toSorted((a, b) => a.at - b.at)
    .map(({ happening, at: now }) => {
      const afterMs = now - before;
      before = now;
      return { ...happening, afterMs };
    });
}
