import { describe, expect, it } from 'vitest';
import type { InstanceType } from '../../engine/problem.ts';
import type { StateNode } from '../../state/state-node.ts';
import { aCondition, aNode, aNodeClaim, later, T0 } from '../testkit/objects.ts';
import { fallbackHold, isFallbackNode } from './fallback-node.ts';

const MINUTE = 60_000;

function node(capacityType: string, offerings: string, more: Record<string, string> = {}): StateNode {
  const labels = { 'karpenter.sh/capacity-type': capacityType, 'karpenter.sh/registered': 'true' };
  const claim = aNodeClaim({
    metadata: { labels, annotations: { 'spindrift.dev/offerings': offerings, ...more } },
    status: { conditions: [aCondition('Launched', 'True', later(MINUTE))] },
  });
  return { name: 'node', node: aNode({ metadata: { labels } }), claim };
}

const FALLBACK = node('on-demand', 'small/a/spot/1 small/a/on-demand/3');

function types(healthy: boolean): readonly InstanceType[] {
  return [{ name: 'small', capacity: {}, offerings: [{ zone: 'a', capacityType: 'spot', price: 1, healthy }] }];
}

describe('a fallback', () => {
  it('is a node on demand whose claim wanted spot first', () => {
    expect(isFallbackNode(FALLBACK)).toBe(true);
    expect(isFallbackNode(node('spot', 'small/a/spot/1 small/a/on-demand/3'))).toBe(false);
    expect(isFallbackNode(node('on-demand', 'small/a/on-demand/3 small/a/spot/1'))).toBe(false);
    expect(isFallbackNode({ name: 'by hand', node: aNode() })).toBe(false);
  });

  it('is also one that was planned on demand because its spot was out of the market, and waits for that', () => {
    const marked = node('on-demand', 'small/a/on-demand/3', { 'spindrift.dev/spot-fallback': 'true' });
    expect(isFallbackNode(marked)).toBe(true);
    const hold = (healthy: boolean) =>
      fallbackHold(
        marked,
        { afterMs: 0, budget: '1' },
        { now: later(MINUTE), nodes: 10, instanceTypes: types(healthy) },
      );
    expect(hold(false)).toEqual({ because: 'the spot capacity it would return to is still unavailable' });
    expect(hold(true)).toBeUndefined();
  });

  it('is left alone for a while after its launch, and while there is no spot', () => {
    const rule = { afterMs: 15 * MINUTE, budget: '10%' };
    const hold = (at: number, healthy = true) =>
      fallbackHold(FALLBACK, rule, { now: later(at), nodes: 10, instanceTypes: types(healthy) });
    expect(hold(0)).toMatchObject({ until: T0 + 16 * MINUTE });
    expect(hold(16 * MINUTE)).toBeUndefined();
    expect(hold(16 * MINUTE, false)?.until).toBeUndefined();
    expect(hold(16 * MINUTE, false)?.because).toContain('still unavailable');
  });

  it('is not held for good where it is never to return, as it may go for other reasons', () => {
    const context = { now: later(MINUTE), nodes: 10, instanceTypes: types(true) };
    expect(fallbackHold(FALLBACK, { afterMs: undefined, budget: '10%' }, context)).toBeUndefined();
    expect(fallbackHold(FALLBACK, { afterMs: 0, budget: '0' }, context)).toBeUndefined();
    expect(fallbackHold(node('spot', 'small/a/spot/1'), { afterMs: MINUTE, budget: '1' }, context)).toBeUndefined();
  });
});
