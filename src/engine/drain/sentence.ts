import { type EpochMs, toTimestamp } from '../../platform/clock.ts';
import type { LateReason } from './drain-plan.ts';

/** Explains, after «because», why a pod cannot terminate in time. */
export function lateSentence(reason: LateReason): string {
  switch (reason.kind) {
    case 'no-time':
      return 'the machine ends now';
    case 'closed':
      return `PodDisruptionBudget ${reason.budget} never allows an eviction`;
    case 'several':
      return `several PodDisruptionBudgets select it (${reason.budgets.join(', ')}), and Kubernetes evicts no such pod`;
    case 'turns': {
      const { budget, allowed, turnAt } = reason;
      const evictions = allowed === 1 ? '1 eviction' : `${allowed} evictions`;
      const turn = Number.isFinite(turnAt)
        ? `it could be evicted at ${toTimestamp(turnAt as EpochMs)}`
        : 'the pods evicted before it have no replacement';
      return `PodDisruptionBudget ${budget} allows ${evictions} at a time, and ${turn}`;
    }
  }
}
