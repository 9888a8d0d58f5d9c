/**
 * Brings the replicas of a MachineDeployment in line with what claims want. Pure: the scaler acts on it.
 *
 * A MachineSet that is told to shrink deletes machines that are marked first, and then any. So replicas are lowered only
 * by as many as are marked, machines that are still to come count as if they were there, and while claims wait for machines to
 * come nothing is lowered: whichever way the MachineSet, a rollout, a health check, a person and we are interleaved, it is never
 * a machine of a claim that is taken. For the same reason no machine is deleted by name: the MachineSet would replace it, and
 * what it makes and what it deletes would cross.
 */
import type { CoreMachine } from '../../apis/cluster-api/machine.ts';
import type { Census } from './census.ts';

/** Machines that have been unclaimed, or on their way, for too long. */
export interface Overdue {
  /** Whether a machine has been unclaimed for too long. */
  isOverdue(machine: CoreMachine): boolean;
  /** Machines that no claim waits for should have come long ago, and will not. */
  readonly comingIsOverdue: boolean;
}

export interface Settlement {
  /** Mark these first, and count again before anything else. */
  readonly mark: readonly CoreMachine[];
  readonly replicas: number;
  readonly surplus: number;
}

/** Decides for a whole MachineDeployment; the same again where there is nothing to do. */
export function decideSettlement(census: Census, overdue: Overdue): Settlement {
  const { claimed, free, marked, coming, waiting, surplus, min, max, replicas, paused } = census;
  const unchanged = { mark: [], replicas, surplus: Math.min(surplus, free.length + coming) };
  if (paused) return unchanged;
  const mark = unwanted(census, overdue);
  if (mark.length > 0) return { ...unchanged, mark, surplus: Math.max(0, unchanged.surplus - mark.length) };

  const kept = claimed.size + free.length;
  const wanted = Math.max(waiting.size - free.length, min - kept, 0);
  // New machines first: marked ones stay until the new ones have come, where there is room for both.
  const both = kept + marked.length + wanted;
  if (wanted > 0 && (max === undefined || both <= max || marked.length === 0)) {
    return { ...unchanged, replicas: Math.max(replicas, Math.min(both, max ?? both)) };
  }
  const lowest = Math.max(min, kept + (overdue.comingIsOverdue ? 0 : coming));
  const mayShrink = marked.length > 0 || overdue.comingIsOverdue;
  if (mayShrink && lowest < replicas) return { ...unchanged, replicas: lowest };
  // Not for unclaimed machines: a rollout has one more than replicas ask for, and takes it back.
  return { ...unchanged, replicas: Math.max(replicas, Math.min(claimed.size, max ?? claimed.size)) };
}

/** Unclaimed machines to delete: claims asked for them and no longer want them, or no claim adopted them in time. */
function unwanted({ free, waiting, surplus, claimed, coming, min }: Census, overdue: Overdue): readonly CoreMachine[] {
  const spare = Math.min(free.length - waiting.size, claimed.size + free.length + coming - min);
  if (spare <= 0) return [];
  // The least fit go.
  const candidates = [...free].reverse();
  const late = candidates.filter((machine) => overdue.isOverdue(machine));
  const chosen = new Set(late.slice(0, spare));
  for (const machine of candidates) {
    if (chosen.size >= Math.min(spare, surplus)) break;
    chosen.add(machine);
  }
  return [...chosen];
}
