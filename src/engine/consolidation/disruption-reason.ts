import type { DisruptionReason } from './fleet.ts';

/**
 * Why nodes go from which so many pods have to move. All nodes of a move go for one reason, which decides the budget they are
 * charged to: planner, verifier and controllers agree because a node that is empty goes by itself, never in the move of others.
 */
export function reasonFor(pods: number): DisruptionReason {
  return pods === 0 ? 'Empty' : 'Underutilized';
}
