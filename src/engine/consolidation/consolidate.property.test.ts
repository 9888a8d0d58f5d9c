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

/** All violations of the plan for a fleet. */
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

/** Exchanges that waited for each other's slots, zones or budgets are left for the next round. */
const ROUNDS_TO_REST = 6;

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

  it('comes to rest: on the fleets that it leads to it saves something each time, and soon finds nothing to do', () => {
    fc.assert(
      fc.property(fc.oneof(freeFleet, anyFleet), (fleet) => {
        let present = fleet;
        for (let round = 0; round < ROUNDS_TO_REST; round++) {
          const { moves, priceBefore, priceAfter } = consolidate(present, OPTIONS);
          if (moves.length === 0) return;
          // Reserved and foreign nodes may cost nothing.
          expect(priceAfter).toBeLessThanOrEqual(priceBefore);
          present = applyMoves(present, moves, 'spend-budgets');
        }
        expect.fail('it finds more and more to do');
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
