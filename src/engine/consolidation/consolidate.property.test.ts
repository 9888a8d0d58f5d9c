import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifyMoveFigures } from '../verify/moves/move-figures.ts';
import { verifyStayingPods } from '../verify/moves/staying-pods.ts';
import { verifyConsolidation } from '../verify/verify-consolidation.ts';
import type { Violation } from '../verify/violation.ts';
import { applyMoves } from './apply-plan.ts';
import { consolidate } from './consolidate.ts';
import type { ConsolidationOptions, Fleet } from './fleet.ts';
import { anyFleet, freeFleet } from './testkit/arbitrary-fleet.ts';

/** Everything that is wrong with the plan for a fleet. */
function violations(fleet: Fleet, options: ConsolidationOptions): Violation[] {
  const plan = consolidate(fleet, options);
  return [
    ...verifyConsolidation(fleet, plan, options),
    ...verifyStayingPods(fleet, plan),
    ...verifyMoveFigures(fleet, plan, options),
  ];
}

// Random catalogues are small; fifteen spot offerings are never found in them.
const OPTIONS = { spotDiversity: 2 };

describe('consolidation of any fleet', () => {
  it('breaks no rule, no budget and no limit when its moves are done in order', () => {
    fc.assert(
      fc.property(anyFleet, (fleet) => {
        expect(violations(fleet, OPTIONS)).toEqual([]);
      }),
    );
  });

  it('breaks none where everything may be disrupted either', () => {
    fc.assert(
      fc.property(freeFleet, (fleet) => {
        expect(violations(fleet, OPTIONS)).toEqual([]);
      }),
    );
  });

  it('breaks none where pods can be put wherever they should be', () => {
    fc.assert(
      fc.property(fc.oneof(freeFleet, anyFleet), (fleet) => {
        const pods = fleet.pods.map((pod) => ({ ...pod, steerable: true }));
        expect(violations({ ...fleet, pods }, OPTIONS)).toEqual([]);
      }),
    );
  });

  it('is the same every time', () => {
    fc.assert(
      fc.property(anyFleet, (fleet) => {
        expect(consolidate(structuredClone(fleet), OPTIONS)).toEqual(consolidate(fleet, OPTIONS));
      }),
      { numRuns: 30 },
    );
  });

  it('finds nothing to do on the fleet that it leads to', () => {
    fc.assert(
      fc.property(fc.oneof(freeFleet, anyFleet), (fleet) => {
        // A Balanced pool weighs moves against the whole pool, which is another one afterwards.
        fc.pre(fleet.poolDisruption.every(({ policy }) => policy !== 'Balanced'));
        const first = consolidate(fleet, OPTIONS);
        // Exchanges that wait for each other's slots or zones are left for the next time, and an empty node that had to stay
        // and took pods is no longer in the way of the budget for empty ones.
        fc.pre(first.kept.every(({ cause }) => cause.kind !== 'order' && cause.kind !== 'pool-budget'));
        // Who keeps others away until a node is gone does so no longer afterwards.
        const gone = new Set(first.moves.flatMap(({ nodes }) => nodes));
        fc.pre((fleet.boundPods ?? []).every(({ node }) => !gone.has(node)));
        expect(consolidate(applyMoves(fleet, first.moves, 'spend-budgets'), OPTIONS).moves).toEqual([]);
      }),
    );
  });

  it('is right as far as it goes when it is cut short', () => {
    fc.assert(
      fc.property(anyFleet, fc.nat(2000), (fleet, maxSteps) => {
        expect(violations(fleet, { ...OPTIONS, maxSteps })).toEqual([]);
      }),
      { numRuns: 50 },
    );
  });
});
