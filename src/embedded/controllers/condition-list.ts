import type { WorkloadCondition } from '../../apis/kubernetes/workloads.ts';

/** The conditions of a workload while its status is calculated. */
export class ConditionList {
  readonly #now: string;
  #conditions: readonly WorkloadCondition[];

  constructor(conditions: readonly WorkloadCondition[] | undefined, now: string) {
    this.#conditions = conditions ?? [];
    this.#now = now;
  }

  get all(): readonly WorkloadCondition[] {
    return this.#conditions;
  }

  get(type: string): WorkloadCondition | undefined {
    return this.#conditions.find((condition) => condition.type === type);
  }

  /** Sets a condition. One with the same status and reason stays unchanged, unless `dateAnew` is set. */
  set(
    type: string,
    status: 'True' | 'False' | 'Unknown',
    reason: string,
    message: string,
    options = { dateAnew: false },
  ): void {
    const known = this.get(type);
    if (!options.dateAnew && known?.status === status && known.reason === reason) return;
    const lastTransitionTime = known?.status === status ? (known.lastTransitionTime ?? this.#now) : this.#now;
    const condition = { type, status, reason, message, lastUpdateTime: this.#now, lastTransitionTime };
    this.#conditions = [...this.#conditions.filter((other) => other.type !== type), condition];
  }

  remove(type: string): void {
    this.#conditions = this.#conditions.filter((condition) => condition.type !== type);
  }
}
