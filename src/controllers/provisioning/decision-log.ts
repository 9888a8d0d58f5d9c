/** Keeps the latest provisioning decisions with their inputs and rejected alternatives, for the `why` command. */
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { Solution } from '../../engine/solution.ts';
import type { EpochMs } from '../../platform/clock.ts';
import type { BuiltProblem } from '../../state/build-problem.ts';
import type { SettledPlan } from '../spot-policy/spot-planning.ts';

export interface Decision {
  readonly at: EpochMs;
  /** The problem that was solved, without the snapshot: its objects would keep old versions of the cluster in memory. */
  readonly built: Omit<BuiltProblem, 'snapshot'>;
  readonly solution: Solution;
  /** The claim of each new node of the solution; undefined where none was created. */
  readonly claims: readonly (NodeClaim | undefined)[];
  /** Changes that SpotPolicies made to the plan, and limits of policies that it does not meet. */
  readonly policies: Pick<SettledPlan, 'changes' | 'gaps'>;
}

/** Most pods in all kept decisions together; the newest decision is kept whatever its size. */
const MOST_PODS = 5000;

export class DecisionLog {
  readonly #decisions: Decision[] = [];
  readonly #kept: number;

  /** `kept`: most decisions. Each holds a whole problem, so fewer large ones are kept. */
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
