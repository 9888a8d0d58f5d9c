/** Remembers how long machines have been unclaimed, and how long replicas that no claim waits for have been without a machine. */
import type { CoreMachine } from '../../apis/cluster-api/machine.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Census } from './census.ts';
import type { Overdue } from './decide-settlement.ts';

export interface OverdueWatchOptions {
  readonly clock: Clock;
  /** How long a machine may be unclaimed. */
  readonly graceMs: number;
}

interface Seen {
  readonly free: Map<string, number>;
  /** Since when machines have been coming for this many replicas; undefined while claims wait for all of them. */
  coming?: { readonly replicas: number; readonly since: number };
}

export class OverdueWatch {
  readonly #options: OverdueWatchOptions;
  readonly #seen = new Map<string, Seen>();

  constructor(options: OverdueWatchOptions) {
    this.#options = options;
  }

  /** Which machines of a MachineDeployment are overdue, given its present count. */
  look(key: string, { free, coming, waiting, replicas }: Census): Overdue {
    const { clock, graceMs } = this.#options;
    const now = clock.elapsed();
    const before = this.#seen.get(key);
    const since = new Map(free.map((machine) => [uidOf(machine), before?.free.get(uidOf(machine)) ?? now]));
    const unwaited = coming > Math.max(0, waiting.size - free.length);
    const known = before?.coming?.replicas === replicas ? before.coming : { replicas, since: now };
    this.#seen.set(key, { free: since, ...(unwaited && { coming: known }) });
    return {
      isOverdue: (machine) => now - (since.get(uidOf(machine)) ?? now) >= graceMs,
      comingIsOverdue: unwaited && now - known.since >= graceMs,
    };
  }

  /** Forgets MachineDeployments that are no longer ours. */
  keepOnly(keys: ReadonlySet<string>): void {
    for (const key of this.#seen.keys()) if (!keys.has(key)) this.#seen.delete(key);
  }
}

function uidOf({ metadata }: CoreMachine): string {
  return metadata.uid ?? metadata.name ?? '';
}
