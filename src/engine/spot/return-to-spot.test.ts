import { describe, expect, it } from 'vitest';
import type { RankedOffering } from '../solution.ts';
import { mayReturnToSpot, type ReturnContext, type ReturnRule, returnBudget } from './return-to-spot.ts';

const MINUTE = 60_000;
const offering = (capacityType: RankedOffering['capacityType'], zone: string): RankedOffering => ({
  instanceType: 'small',
  zone,
  capacityType,
  price: 1,
});
const SPOT_FIRST = [offering('spot', 'a'), offering('spot', 'b'), offering('on-demand', 'a'), offering('spot', 'c')];
const RULE: ReturnRule = { afterMs: 15 * MINUTE, budget: '10%' };

function judged(given: {
  capacityType?: RankedOffering['capacityType'];
  offerings?: readonly RankedOffering[];
  launchedAt?: number | undefined;
  rule?: Partial<ReturnRule>;
  context?: Partial<ReturnContext>;
}) {
  const { capacityType = 'on-demand', offerings = SPOT_FIRST, rule, context } = given;
  const launchedAt = 'launchedAt' in given ? given.launchedAt : 0;
  return mayReturnToSpot(
    { capacityType, offerings, launchedAt },
    { ...RULE, ...rule },
    { now: 15 * MINUTE, nodes: 10, returning: 0, isUnavailable: () => false, ...context },
  );
}

describe('the return to spot', () => {
  it('is for machines on demand that were to be spot', () => {
    expect(judged({})).toEqual({ kind: 'may-return' });
    expect(judged({ capacityType: 'spot' })).toEqual({ kind: 'no-fallback' });
    expect(judged({ capacityType: 'reserved' })).toEqual({ kind: 'no-fallback' });
    expect(judged({ offerings: SPOT_FIRST.toReversed().slice(1) })).toEqual({ kind: 'no-fallback' });
    expect(judged({ offerings: [] })).toEqual({ kind: 'no-fallback' });
  });

  it('waits until a machine has been kept for a while, and says until when', () => {
    expect(judged({ context: { now: 15 * MINUTE - 1 } })).toMatchObject({ by: 'cooldown', until: 15 * MINUTE });
    expect(judged({ launchedAt: undefined })).toMatchObject({ by: 'cooldown', until: 30 * MINUTE });
    expect(judged({ rule: { afterMs: 0 } })).toEqual({ kind: 'may-return' });
  });

  it('never begins where the policy says Never', () => {
    expect(judged({ rule: { afterMs: undefined } })).toMatchObject({ by: 'never' });
  });

  it('waits while all that was to be tried before on-demand is unavailable', () => {
    const unavailable =
      (...zones: string[]) =>
      ({ zone, capacityType }: RankedOffering): boolean =>
        capacityType === 'spot' && zones.includes(zone);
    expect(judged({ context: { isUnavailable: unavailable('a', 'b') } })).toMatchObject({ by: 'unavailable' });
    expect(judged({ context: { isUnavailable: unavailable('a') } })).toEqual({ kind: 'may-return' });
    const spotOnly = SPOT_FIRST.slice(0, 2);
    expect(judged({ offerings: spotOnly, context: { isUnavailable: unavailable('a', 'b') } })).toMatchObject({
      by: 'unavailable',
    });
  });

  it('keeps to a number of machines at a time', () => {
    expect(judged({ context: { returning: 1 } })).toMatchObject({ by: 'budget' });
    expect(judged({ context: { returning: 1, nodes: 11 } })).toEqual({ kind: 'may-return' });
    expect(judged({ rule: { budget: '3' }, context: { returning: 2 } })).toEqual({ kind: 'may-return' });
    expect(judged({ rule: { budget: '0' } })).toMatchObject({ by: 'budget' });
  });

  it('rounds a percentage of the nodes up', () => {
    expect([0, 1, 10, 11].map((nodes) => returnBudget('10%', nodes))).toEqual([0, 1, 1, 2]);
  });
});
