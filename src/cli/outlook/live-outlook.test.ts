import { describe, expect, it } from 'vitest';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { NEXT_DAY } from '../../state/testkit/a-fleet-snapshot.ts';
import { aPodAsking, aStateNode } from '../../state/testkit/a-state-node.ts';
import { waits } from './live-outlook.ts';

function pending(since: string): Pod {
  const condition = {
    type: 'PodScheduled',
    status: 'False',
    reason: 'Unschedulable',
    lastTransitionTime: since,
  } as const;
  return { ...aPodAsking('web', { cpu: '1' }), status: { phase: 'Pending', conditions: [condition] } };
}
const of = (...pods: readonly Pod[]) => ({ provisionable: () => [...pods] });

describe('what consolidation waits for', () => {
  it('is nothing in a cluster at rest', () => {
    expect(waits(of(pending('2030-01-01T23:00:00Z')), [aStateNode()], NEXT_DAY)).toEqual([]);
  });

  it('is the first round of pods that have just become pending', () => {
    const fresh = pending('2030-01-01T23:59:55Z');
    expect(waits(of(fresh), [], NEXT_DAY)).toEqual([
      'no move starts yet: a pod waits for the first provisioning round',
    ]);
    expect(waits(of(fresh, fresh), [], NEXT_DAY)[0]).toContain('2 pods wait');
  });

  it('is the end of nodes that it moves already, not of those that go for another reason', () => {
    const going = (name: string, reason: string) =>
      aStateNode({
        name,
        claimAnnotations: { 'spindrift.dev/disruption': `id=x reason=${reason} at=2030-01-01T00:00:00Z` },
      });
    const nodes = [going('a', 'Underutilized'), going('b', 'Drifted')];
    expect(waits(of(), nodes, NEXT_DAY)).toEqual([
      'no other move starts until the nodes of the last one are deleted: a',
    ]);
  });
});
