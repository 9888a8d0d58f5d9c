import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NOTICE_KINDS, type Notice, type NoticeKind } from '../../cloud/notice.ts';
import { later, T0 } from '../testkit/objects.ts';
import { decideNotice } from './decide-notice.ts';
import type { ClaimInterruption } from './interruption-of-claim.ts';

const notice = (kind: NoticeKind, deadlineMs?: number, at = T0): Notice => ({
  ...{ kind, machine: 'one', at, source: 'test', detail: '' },
  ...(deadlineMs !== undefined && { deadline: later(deadlineMs) }),
});

describe('a notice', () => {
  it('is written with its times in whole seconds, never later than it was said', () => {
    expect(decideNotice(notice('spot-interruption', 120_999, later(1999)), undefined, 'Event')).toEqual({
      kind: 'spot-interruption',
      at: later(1000),
      deadline: later(120_000),
    });
  });

  it('of a graver kind is dated anew, and one of the same kind never later', () => {
    const known = { kind: 'rebalance', at: T0 } as const;
    const graver = decideNotice(notice('spot-interruption', 120_000, later(60_000)), known, 'Replace');
    expect(graver).toMatchObject({ kind: 'spot-interruption', at: later(60_000) });
    expect(decideNotice(notice('rebalance', undefined, later(1000)), known, 'Replace')).toBeUndefined();
  });

  it('without a deadline is taken for the shortest that clouds give; a machine that stops, for one that stops now', () => {
    expect(decideNotice(notice('spot-interruption'), undefined, 'Event')?.deadline).toBe(later(30_000));
    expect(decideNotice(notice('stopping'), undefined, 'Event')?.deadline).toBe(T0);
    expect(decideNotice(notice('scheduled-maintenance'), undefined, 'Event')).toEqual({
      kind: 'scheduled-maintenance',
      at: T0,
    });
  });

  it('of a reservation that ends changes nothing, and a warning only where the pool replaces for it', () => {
    expect(decideNotice(notice('reservation-ending', 1000), undefined, 'Replace')).toBeUndefined();
    expect(decideNotice(notice('rebalance'), undefined, 'Event')).toBeUndefined();
    expect(decideNotice(notice('rebalance'), undefined, 'Cordon')).toBeUndefined();
    expect(decideNotice(notice('rebalance'), undefined, 'Replace')).toEqual({ kind: 'rebalance', at: T0 });
  });

  it('that says no more than is known is not written again', () => {
    const known = { kind: 'spot-interruption', at: T0, deadline: later(120_000) } as const;
    expect(decideNotice(notice('spot-interruption', 120_000), known, 'Event')).toBeUndefined();
    expect(decideNotice(notice('spot-interruption', 200_000), known, 'Event')).toBeUndefined();
    expect(decideNotice(notice('rebalance'), known, 'Replace')).toBeUndefined();
    expect(decideNotice(notice('spot-interruption', 60_000), known, 'Event')).toMatchObject({
      deadline: later(60_000),
    });
    expect(decideNotice(notice('terminated'), known, 'Event')).toEqual({ ...known, kind: 'terminated' });
  });

  it('makes the same of a claim in whatever order notices come, and however often', () => {
    const some = fc
      .record({
        kind: fc.constantFrom(...NOTICE_KINDS),
        at: fc.nat(300_000),
        deadline: fc.option(fc.nat(300_000), { nil: undefined }),
      })
      .map(({ kind, at, deadline }) => notice(kind, deadline, later(at)));
    const outcome = (notices: readonly Notice[]): ClaimInterruption | undefined =>
      notices.reduce<ClaimInterruption | undefined>(
        (known, one) => decideNotice(one, known, 'Replace') ?? known,
        undefined,
      );
    fc.assert(
      fc.property(fc.array(some, { maxLength: 8 }), fc.infiniteStream(fc.nat()), (notices, keys) => {
        const order = notices.map((one) => ({ one, key: keys.next().value as number }));
        const shuffled = order.sort((a, b) => a.key - b.key).map(({ one }) => one);
        expect(outcome([...shuffled, ...shuffled])).toEqual(outcome(notices));
      }),
    );
  });
});
