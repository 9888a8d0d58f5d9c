import { describe, expect, it } from 'vitest';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { LABEL_GROUP_INDEX } from '../../apis/leader-worker-set/labels.ts';
import type { Replica, ReplicaCapacity } from '../../state/availability/replica-demand.ts';
import { ANNOTATION_DELETION_COST, decideReplicas, SETTLE_MS, type ServiceFacts } from './decide-replicas.ts';

function aReplica(group: number, capacity: ReplicaCapacity, parts: Partial<Replica> & { cost?: string } = {}): Replica {
  const { cost, ...rest } = parts;
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `chat-${group}`,
      namespace: 'default',
      labels: { [LABEL_GROUP_INDEX]: `${group}` },
      ...(cost !== undefined && { annotations: { [ANNOTATION_DELETION_COST]: cost } }),
    },
    spec: { containers: [], nodeName: `node-${group}` },
  };
  return { pod, capacity, ready: true, staying: true, ...rest };
}

const FIRST = '-1000000';
const onSpot = (...groups: number[]): Replica[] => groups.map((group) => aReplica(group, 'spot'));

function decided(parts: Partial<ServiceFacts>) {
  const facts = {
    asked: 4,
    replicas: [],
    numbered: false,
    lowerForMs: SETTLE_MS,
    rule: { ready: 4, extra: 0, onDemand: 0 },
  };
  return decideReplicas({ ...facts, ...parts });
}

describe('the replicas of a service that keeps four ready', () => {
  it('become more at once when a machine is to go', () => {
    const replicas = [...onSpot(0, 1, 2), aReplica(3, 'spot', { staying: false })];
    expect(decided({ replicas })).toMatchObject({ wanted: 5, ask: 5 });
  });

  it('become fewer only when that has lasted, and those on demand are marked to go first', () => {
    const filler = aReplica(4, 'on-demand');
    const replicas = [...onSpot(0, 1, 2, 3), filler];
    expect(decided({ asked: 5, replicas })).toEqual({ wanted: 4, costs: new Map([[filler.pod, FIRST]]) });
    const marked = [...onSpot(0, 1, 2, 3), aReplica(4, 'on-demand', { cost: FIRST })];
    expect(decided({ asked: 5, replicas: marked, lowerForMs: SETTLE_MS - 1 }).ask).toBeUndefined();
    expect(decided({ asked: 5, replicas: marked })).toMatchObject({ ask: 4 });
  });

  it('are not marked any more once they are on spot, and those that are always on demand never are', () => {
    const [back] = [aReplica(0, 'spot', { cost: FIRST })];
    expect(decided({ replicas: [back as Replica, ...onSpot(1, 2, 3)] }).costs).toEqual(new Map([[back?.pod, null]]));
    const rule = { ready: 4, extra: 0, onDemand: 1 };
    expect(decided({ rule, replicas: [aReplica(0, 'on-demand'), ...onSpot(1, 2, 3)] }).costs).toEqual(new Map());
  });

  it('of a set that gives up the highest number first, give up one on demand that is in the way', () => {
    const inTheWay = aReplica(1, 'on-demand');
    const replicas = [...onSpot(0, 2, 3, 4), inTheWay];
    expect(decided({ asked: 5, numbered: true, replicas })).toEqual({
      wanted: 4,
      costs: new Map(),
      evict: inTheWay.pod,
    });
    expect(decided({ asked: 5, numbered: true, replicas: [...onSpot(0, 1, 2, 3), aReplica(4, 'on-demand')] })).toEqual({
      ...{ wanted: 4, costs: new Map(), ask: 4 },
    });
    // While one comes again, or what was asked for is not there yet, the number stays.
    const coming = [...onSpot(0, 2, 3, 4), aReplica(1, 'on-demand', { ready: false })];
    expect(decided({ asked: 5, numbered: true, replicas: coming })).toEqual({ wanted: 4, costs: new Map() });
    expect(decided({ asked: 6, numbered: true, replicas })).toEqual({ wanted: 4, costs: new Map() });
  });
});
