import { type EpochMs, toTimestamp } from '../../platform/clock.ts';
import type { LateReason } from './drain-plan.ts';

/** Says, after "because", why a pod cannot leave in time. */
export function lateSentence(reason: LateReason): string {
  switch (reason.kind) {
    case 'no-time':
      return 'the machine goes now';
    case 'closed':
      return `the disruption budget ${reason.budget} never lets a pod go`;
    case 'several':
      return `it has several disruption budgets (${reason.budgets.join(', ')}), and Kubernetes evicts no such pod`;
    case 'turns': {
      const { budget, allowed, turnAt } = reason;
      const pods = allowed === 1 ? '1 pod' : `${allowed} pods`;
      const turn = Number.isFinite(turnAt)
        ? `its turn would come at ${toTimestamp(turnAt as EpochMs)}`
        : 'nothing takes the place of those that go first';
      return `the disruption budget ${budget} lets ${pods} go at a time, and ${turn}`;
    }
  }
}
