import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DrainBudget, DrainPod, DrainQuestion } from './drain-question.ts';
import { planDrain } from './plan-drain.ts';
import { carryOut } from './testkit/carry-out.ts';

const NOW = 1_000_000;
const MARGIN = 3000;
const seconds = (min: number, max: number): fc.Arbitrary<number> => fc.integer({ min, max }).map((s) => s * 1000);

interface ArbitraryPod extends Omit<DrainPod, 'id' | 'name' | 'endsAt'> {
  readonly held: number | undefined;
  readonly endsAt: number | undefined;
}

const aPod: fc.Arbitrary<ArbitraryPod> = fc.record({
  graceMs: seconds(0, 90),
  group: fc.nat(3),
  budgets: fc.constantFrom<readonly string[]>([], [], ['a'], ['a'], ['b'], ['a', 'b']),
  comesBack: fc.constantFrom<DrainPod['comesBack']>('at-once', 'at-once', 'after-its-end', 'never'),
  readyMs: seconds(1, 20),
  held: fc.constantFrom(undefined, undefined, undefined, NOW + 20_000, Number.POSITIVE_INFINITY),
  endsAt: fc.option(seconds(0, 60), { nil: undefined, freq: 6 }),
});

const aQuestion = (pod: fc.Arbitrary<ArbitraryPod>, elsewhere: fc.Arbitrary<number>): fc.Arbitrary<DrainQuestion> =>
  fc
    .record({
      pods: fc.array(pod, { maxLength: 14, size: 'max' }),
      allowed: fc.tuple(fc.nat(3), fc.nat(3)),
      away: fc.tuple(fc.nat(3), fc.nat(3)),
      elsewhere: fc.tuple(elsewhere, elsewhere),
      deadline: seconds(-5, 180),
    })
    .map(({ pods, allowed, away, elsewhere: others, deadline }) => ({
      pods: pods.map(
        ({ held, endsAt, ...rest }, index): DrainPod => ({
          ...rest,
          id: `p${index}`,
          name: `default/p${index}`,
          ...(held !== undefined && { heldUntil: held }),
          ...(endsAt !== undefined && { endsAt: NOW + endsAt }),
        }),
      ),
      budgets: ['a', 'b'].map(
        (name, index): DrainBudget => ({
          name,
          allowed: allowed[index] as number,
          away: Math.min(allowed[index] as number, away[index] as number),
          elsewhere: others[index] as number,
        }),
      ),
      now: NOW,
      deadline: NOW + deadline,
      marginMs: MARGIN,
    }));

const anyQuestion = aQuestion(aPod, fc.nat(6));
const ownQuestion = aQuestion(aPod, fc.constant(0));

describe('a planned drain', () => {
  it('asks every pod that is not leaving yet once, and gives nobody more than their own grace period', () => {
    fc.assert(
      fc.property(anyQuestion, (question) => {
        const { steps, late } = planDrain(question);
        const waiting = question.pods.filter(({ endsAt }) => endsAt === undefined);
        expect(steps.map(({ pod }) => pod.id).sort()).toEqual(waiting.map(({ id }) => id).sort());
        for (const { pod, graceMs, askAt, expectedAt } of steps) {
          expect(graceMs).toBeLessThanOrEqual(pod.graceMs);
          expect(askAt).toBeGreaterThanOrEqual(NOW);
          expect(expectedAt).toBeGreaterThanOrEqual(askAt);
        }
        expect(new Set(late.map(({ pod }) => pod.id)).size).toBe(late.length);
      }),
    );
  });

  it('has every pod end before the machine goes, or says why it cannot', () => {
    fc.assert(
      fc.property(ownQuestion, (question) => {
        const plan = planDrain(question);
        const late = new Set(plan.late.map(({ pod }) => pod.id));
        for (const { pod, endedAt } of carryOut(question, plan, 400_000))
          if (!late.has(pod.id)) expect(endedAt, pod.id).toBeLessThanOrEqual(question.deadline);
      }),
      { numRuns: 3000 },
    );
  });

  it.each<DrainPod['comesBack']>(['at-once', 'after-its-end', 'never'])(
    'calls nobody late who would leave in time if all ended in a second, of pods that come back %s',
    (comesBack) => {
      const alike = fc.record({
        ...{
          graceMs: seconds(0, 90),
          group: fc.constant(0),
          budgets: fc.constant(['a']),
          held: fc.constant(undefined),
        },
        ...{ comesBack: fc.constant(comesBack), readyMs: fc.constant(9000), endsAt: fc.constant(undefined) },
      });
      fc.assert(
        fc.property(aQuestion(alike, fc.constant(0)), (question) => {
          const { steps, late } = planDrain(question);
          const hurried = steps.map((step) => ({ ...step, askAt: NOW, endBy: NOW }));
          const told = carryOut(question, { steps: hurried }, 400_000).map(({ toldAt }) => toldAt);
          expect(steps.length - late.length).toBe(told.filter((at) => at + 1000 <= question.deadline).length);
        }),
        { numRuns: 200 },
      );
    },
  );

  it('shortens a grace period only where its own would not fit', () => {
    fc.assert(
      fc.property(anyQuestion, (question) => {
        const end = question.deadline - MARGIN;
        for (const { pod, graceMs, expectedAt } of planDrain(question).steps) {
          if (graceMs === pod.graceMs) continue;
          if (pod.comesBack === 'after-its-end' && pod.budgets.length > 0) continue;
          expect(expectedAt + pod.graceMs).toBeGreaterThan(end);
        }
      }),
    );
  });

  it('asks a later group only when the former have left, or at the last moment that leaves it its time', () => {
    fc.assert(
      fc.property(anyQuestion, (question) => {
        const { steps, late } = planDrain(question);
        const end = question.deadline - MARGIN;
        const never = new Set(late.map(({ pod }) => pod.id));
        const endsOf = (group: number): number =>
          Math.max(
            Number.NEGATIVE_INFINITY,
            ...question.pods.filter((pod) => pod.group < group).map(({ endsAt = Number.NEGATIVE_INFINITY }) => endsAt),
            ...steps
              .filter(({ pod }) => pod.group < group)
              .map((step) => (never.has(step.pod.id) ? Number.POSITIVE_INFINITY : step.expectedAt + step.graceMs)),
          );
        for (const { pod, askAt } of steps) {
          if (pod.budgets.length > 0) continue;
          expect(askAt).toBeGreaterThanOrEqual(Math.min(endsOf(pod.group), end - pod.graceMs));
        }
      }),
    );
  });

  it('leaves pods that are not to be disturbed alone until the last moment that leaves them their grace period', () => {
    fc.assert(
      fc.property(anyQuestion, (question) => {
        const end = question.deadline - MARGIN;
        for (const { pod, askAt } of planDrain(question).steps) {
          if (pod.heldUntil === undefined || pod.budgets.length > 0) continue;
          expect(askAt).toBeGreaterThanOrEqual(Math.min(pod.heldUntil, end - pod.graceMs));
        }
      }),
    );
  });

  it('that starts at the latest start shortens nobody', () => {
    fc.assert(
      fc.property(anyQuestion, (question) => {
        const { latestStart } = planDrain(question);
        if (!Number.isFinite(latestStart) || latestStart < NOW) return;
        const { steps, late } = planDrain({ ...question, now: latestStart });
        const never = new Set(late.map(({ pod }) => pod.id));
        for (const { pod, graceMs } of steps) if (!never.has(pod.id)) expect(graceMs).toBe(pod.graceMs);
      }),
    );
  });

  it('is the same whenever it is asked for', () => {
    fc.assert(
      fc.property(anyQuestion, (question) => {
        expect(planDrain(question)).toEqual(planDrain(question));
      }),
    );
  });
});
