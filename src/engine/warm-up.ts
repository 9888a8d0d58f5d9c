/**
 * Runs the engine on made-up problems, so that the runtime has compiled it before the first real decision is due. A
 * fresh process solves its first problem several times slower than its second.
 */
import { practiceProblem, practiceTypes } from './practice.ts';
import { solve } from './solve.ts';

const ROUNDS = 14;

/** Solves small problems with every common kind of constraint, first `balanced`, then `fast`; takes a fraction of a second. */
export function warmUp(rounds = ROUNDS): void {
  solve(practiceProblem(0, 200, practiceTypes(60, true)), { maxSteps: 100_000 });
  const catalogues = [practiceTypes(240, true), practiceTypes(240, false)];
  for (let round = 0; round < rounds; round++) {
    solve(practiceProblem(round, 600, catalogues[round % 2] ?? []), { quality: 'fast' });
  }
}
