/** Logs a round of provisioning: its plan, and one line for each reason why pods are unschedulable. */
import { keyOf, keyText } from '../../apis/kubernetes/object.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { reasonSentence } from '../../engine/explain/sentence.ts';
import type { Solution } from '../../engine/solution.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import { RepeatedLines } from '../../platform/repeated-lines.ts';
import type { BuiltProblem } from '../../state/build-problem.ts';

/** Pods named in one log line. */
const NAMED = 3;
/** A pod that stays unschedulable is logged again after this long, then less and less often. */
const QUIET_MS = 10 * 60_000;
const LONGEST_QUIET_MS = 60 * 60_000;

export class RoundLog {
  readonly #logger: Logger;
  readonly #reasons: RepeatedLines;
  #last = '';

  constructor({ clock, logger }: { readonly clock: Clock; readonly logger: Logger }) {
    this.#logger = logger;
    this.#reasons = new RepeatedLines({ clock, firstMs: QUIET_MS, longestMs: LONGEST_QUIET_MS });
  }

  /** Logs a round; one with the same result as the last is logged at debug level. */
  tell(built: Pick<BuiltProblem, 'pods' | 'held'>, solution: Solution, seconds: number): void {
    const { existing, newNodes, unplaced } = solution;
    const counts = {
      pods: built.pods.length,
      onExistingNodes: existing.reduce((sum, { pods }) => sum + pods.length, 0),
      newNodes: newNodes.length,
      unschedulable: unplaced.reduce((sum, { pods }) => sum + pods.length, 0),
    };
    const found = JSON.stringify(counts);
    const isNews = newNodes.length > 0 || (counts.onExistingNodes > 0 && found !== this.#last);
    const level = isNews ? 'info' : 'debug';
    this.#last = found;
    const price = newNodes.length === 0 ? {} : { pricePerHour: solution.price, lowerBound: solution.lowerBound };
    this.#logger[level]('planned pods', { ...counts, ...price, seconds });
    // Pods that are alike share one reason.
    for (const [reason, groups] of Map.groupBy(unplaced, (group) => group.reason)) {
      const pods = groups.flatMap((group) => group.pods.map((number) => built.pods[number] as Pod));
      this.#unschedulable(pods, reasonSentence(reason));
    }
    for (const { pod, problem } of built.held) this.#unschedulable([pod], problem);
  }

  #unschedulable(pods: readonly Pod[], why: string): void {
    const [first] = pods;
    // Logged once per owner: other pods with the same reason are news, more pods of the same Deployment are not.
    const owner = first?.metadata.ownerReferences?.[0]?.uid ?? first?.metadata.uid ?? '';
    if (first === undefined || this.#reasons.say(owner) === undefined) return;
    const names = pods.slice(0, NAMED).map((pod) => keyText(keyOf(pod)));
    this.#logger.warn('pods are unschedulable', { pods: pods.length, names, why });
  }
}
