import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NOTICE_KINDS, type Notice, type NoticeKind } from '../../cloud/notice.ts';
import { later, T0 } from '../testkit/objects.ts';
import { decideNotice } from './decide-notice.ts';
import type { ClaimInterruption } from './interruption-of-claim.ts';

const notice = (kind: NoticeKind, deadlineMs?: number): Notice => ({
  ...{ kind, providerID: 'simulated:///one', at: T0, source: 'test', detail: '' },
  ...(deadlineMs !== undefined && { deadline: later(deadlineMs) }),
});

describe('a notice', () => {
  it('is written with its deadline in whole seconds, never later than it was said', () => {
    expect(decideNotice(notice('spot-interruption', 120_999), undefined, 'Event')).toEqual({
      kind: 'spot-interruption',
      deadline: later(120_000),
    });
  });

  it('without a deadline is taken for the shortest that clouds give; a machine that stops, for one that stops now', () => {
    expect(decideNotice(notice('spot-interruption'), undefined, 'Event')?.deadline).toBe(later(30_000));
    expect(decideNotice(notice('stopping'), undefined, 'Event')?.deadline).toBe(T0);
    expect(decideNotice(notice('scheduled-maintenance'), undefined, 'Event')).toEqual({
      kind: 'scheduled-maintenance',
    });
  });

  it('of a reservation that ends changes nothing, and a warning only where the pool replaces for it', () => {
    expect(decideNotice(notice('reservation-ending', 1000), undefined, 'Replace')).toBeUndefined();
    expect(decideNotice(notice('rebalance'), undefined, 'Event')).toBeUndefined();
    expect(decideNotice(notice('rebalance'), undefined, 'Cordon')).toBeUndefined();
    expect(decideNotice(notice('rebalance'), undefined, 'Replace')).toEqual({ kind: 'rebalance' });
  });

  it('that says no more than is known is not written again', () => {
    const known = { kind: 'spot-interruption', deadline: later(120_000) } as const;
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
      .record({ kind: fc.constantFrom(...NOTICE_KINDS), deadline: fc.option(fc.nat(300_000), { nil: undefined }) })
      .map(({ kind, deadline }) => notice(kind, deadline));
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
