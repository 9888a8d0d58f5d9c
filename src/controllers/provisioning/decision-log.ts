/** The latest decisions, with what they were made from and what was rejected, for those who ask why. */
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { Solution } from '../../engine/solution.ts';
import type { EpochMs } from '../../platform/clock.ts';
import type { BuiltProblem } from '../../state/build-problem.ts';
import type { SettledPlan } from '../spot-policy/spot-planning.ts';

export interface Decision {
  readonly at: EpochMs;
  /** The question; the objects it was made from would keep whole versions of the cluster alive. */
  readonly built: Omit<BuiltProblem, 'snapshot'>;
  readonly solution: Solution;
  /** For each new node of the solution the claim that was written, where it was. */
  readonly claims: readonly (NodeClaim | undefined)[];
  /** What policies changed of the plan, and what of them it does not keep. */
  readonly policies: Pick<SettledPlan, 'changes' | 'gaps'>;
}

/** All questions together speak of so many pods at most; the newest is kept however large it is. */
const MOST_PODS = 5000;

export class DecisionLog {
  readonly #decisions: Decision[] = [];
  readonly #kept: number;

  /** A decision holds the whole question, so only few are kept, and of large ones fewer. */
  constructor(kept = 20) {
    this.#kept = kept;
  }

  add(decision: Decision): void {
    this.#decisions.push(decision);
    while (this.#decisions.length > this.#kept || (this.#decisions.length > 1 && this.#pods() > MOST_PODS))
      this.#decisions.shift();
  }

  #pods(): number {
    return this.#decisions.reduce(
      (sum, { built }) => sum + built.pods.length + (built.problem.boundPods ?? []).length,
      0,
    );
  }

  /** Newest first. */
  list(): readonly Decision[] {
    return this.#decisions.toReversed();
  }
}
