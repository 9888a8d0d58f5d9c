import type { DisruptionReason } from './fleet.ts';

/**
 * The disruption reason of a move that evicts this many pods, which selects the budgets it is charged to. All nodes of a move have
 * the same reason, because an empty node is removed alone, never in a move of other nodes.
 */
export function reasonFor(pods: number): DisruptionReason {
  return pods === 0 ? 'Empty' : 'Underutilized';
}
