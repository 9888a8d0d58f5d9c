import { solveSteps } from '../../engine/solve.ts';
import type { Clock } from '../../platform/clock.ts';
import { inSlices } from '../in-slices.ts';
import type { ProvisionerLimits } from '../provisioning/provisioner.ts';
import type { Solve } from './place-elsewhere.ts';

/** Asks the engine, as long and with as much work as provisioning does. */
export function engineSolve(
  clock: Clock,
  { solveMs = 1000, solveSteps: maxSteps = 50_000_000 }: Pick<ProvisionerLimits, 'solveMs' | 'solveSteps'>,
): Solve {
  return ({ problem }, signal) => {
    const startedAt = clock.elapsed();
    const elapsedMs = (): number => clock.elapsed() - startedAt;
    return inSlices(solveSteps(problem, { elapsedMs, deadlineMs: solveMs, maxSteps }), clock, signal);
  };
}
