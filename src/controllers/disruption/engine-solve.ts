import type { Quality } from '../../engine/problem.ts';
import { solveSteps } from '../../engine/solve.ts';
import type { Clock } from '../../platform/clock.ts';
import { buildProblemSteps } from '../../state/build-problem.ts';
import { inSlices } from '../in-slices.ts';
import type { ProvisionerLimits } from '../provisioning/provisioner.ts';
import { wholeMoves } from '../provisioning/whole-groups.ts';
import { withFlavorLimits } from '../provisioning/with-flavor-limits.ts';
import type { SpotPlanning } from '../spot-policy/spot-planning.ts';
import type { Solve } from './place-elsewhere.ts';

/** Solves with the limits of provisioning, and keeps the solution within the SpotPolicies. */
export function engineSolve(
  clock: Clock,
  spot: Pick<SpotPlanning, 'settle'>,
  { solveMs = 1000, solveSteps: maxSteps = 50_000_000 }: Pick<ProvisionerLimits, 'solveMs' | 'solveSteps'>,
  quality: Quality = 'balanced',
): Solve {
  return async (snapshot, signal) => {
    const built = await inSlices(buildProblemSteps(wholeMoves(withFlavorLimits(snapshot))), clock, signal);
    const startedAt = clock.elapsed();
    const elapsedMs = (): number => clock.elapsed() - startedAt;
    const slices = solveSteps(built.problem, { quality, elapsedMs, deadlineMs: solveMs, maxSteps });
    const solved = await inSlices(slices, clock, signal);
    const { solution, gaps } = await inSlices(spot.settle(solved, built), clock, signal);
    return { built, solution, gaps };
  };
}
