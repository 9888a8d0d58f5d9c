import { describe, expect, it } from 'vitest';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { LABEL_GROUP_INDEX } from '../../apis/leader-worker-set/labels.ts';
import { type EpochMs, toTimestamp } from '../../platform/clock.ts';
import { plannedCapacity, type Replica, type ReplicaCapacity, replicaDemand } from './replica-demand.ts';

let made = 0;

function aReplica(capacity: ReplicaCapacity | undefined, parts: Partial<Replica> & { group?: number } = {}): Replica {
  const { group, ...rest } = parts;
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `chat-${made}`,
      namespace: 'default',
      creationTimestamp: toTimestamp((1_900_000_000_000 + made++ * 1000) as EpochMs),
      ...(group !== undefined && { labels: { [LABEL_GROUP_INDEX]: `${group}` } }),
    },
    spec: { containers: [] },
  };
  return { pod, capacity, ready: capacity !== undefined, staying: true, ...rest };
}

const times = (count: number, make: () => Replica): Replica[] => Array.from({ length: count }, make);
const RULE = { ready: 4, extra: 1, onDemand: 0 };

describe('how many replicas there are to be', () => {
  it('is all on spot, with the extra ones, once these are ready', () => {
    expect(
      replicaDemand(
        RULE,
        times(5, () => aReplica('spot')),
      ),
    ).toEqual({ spot: 5, onDemand: 0 });
  });

  it('counts a spot replica only when it serves, and when neither it nor its machine goes', () => {
    const replicas = [
      ...times(3, () => aReplica('spot')),
      aReplica('spot', { ready: false }),
      aReplica('spot', { staying: false }),
    ];
    expect(replicaDemand(RULE, replicas)).toEqual({ spot: 5, onDemand: 2 });
  });

  it('never has more on demand than are to be ready', () => {
    expect(replicaDemand(RULE, [])).toEqual({ spot: 5, onDemand: 4 });
  });

  it('always has those on demand that are asked for', () => {
    const rule = { ready: 4, extra: 1, onDemand: 2 };
    expect(
      replicaDemand(
        rule,
        times(3, () => aReplica('spot')),
      ),
    ).toEqual({ spot: 3, onDemand: 2 });
    expect(replicaDemand(rule, [aReplica('spot')])).toEqual({ spot: 3, onDemand: 4 });
  });
});

describe('what pods without a node are for', () => {
  const demand = { spot: 5, onDemand: 4 };

  it('is spot for the oldest, as many as are missing there, and on demand for those that fill in', () => {
    const replicas = times(9, () => aReplica(undefined));
    const planned = plannedCapacity(demand, replicas);
    expect(replicas.map(({ pod }) => planned.get(pod))).toEqual([
      ...['spot', 'spot', 'spot', 'spot', 'spot'],
      ...['on-demand', 'on-demand', 'on-demand', 'on-demand'],
    ]);
  });

  it('is spot for what follows those whose machines go', () => {
    const going = times(2, () => aReplica('spot', { staying: false }));
    const fresh = times(2, () => aReplica(undefined));
    const planned = plannedCapacity({ spot: 4, onDemand: 2 }, [
      ...fresh,
      ...going,
      ...times(2, () => aReplica('spot')),
    ]);
    expect(going.map(({ pod }) => planned.get(pod))).toEqual(['spot', 'spot']);
    expect(fresh.map(({ pod }) => planned.get(pod))).toEqual(['on-demand', 'on-demand']);
  });

  it('goes by the number of the group where there are groups: the last are given up first', () => {
    const replicas = [5, 4, 1, 0].map((group) => aReplica(undefined, { group }));
    const planned = plannedCapacity({ spot: 2, onDemand: 2 }, replicas);
    expect(replicas.map(({ pod }) => planned.get(pod))).toEqual(['on-demand', 'on-demand', 'spot', 'spot']);
  });

  it('is spot for all that nobody asked for', () => {
    const replicas = [...times(5, () => aReplica('spot')), aReplica(undefined)];
    expect([...plannedCapacity({ spot: 5, onDemand: 0 }, replicas).values()]).toEqual(['spot']);
  });
});
