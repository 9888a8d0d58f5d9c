/** The lines of the log about a round of provisioning: one when something came of it, and one for each reason why pods have no place. */
import { keyOf, keyText } from '../../apis/kubernetes/object.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { reasonSentence } from '../../engine/explain/sentence.ts';
import type { Solution } from '../../engine/solution.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import { RepeatedLines } from '../../platform/repeated-lines.ts';
import type { BuiltProblem } from '../../state/build-problem.ts';

/** So many pods are named for a reason. */
const NAMED = 3;
/** A pod that waits for a day is told of now and then. */
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

  /** Tells of a round; one that finds again what the last one found is no news. */
  tell(built: Pick<BuiltProblem, 'pods' | 'held'>, solution: Solution, seconds: number): void {
    const { existing, newNodes, unplaced } = solution;
    const counts = {
      pods: built.pods.length,
      onExistingNodes: existing.reduce((sum, { pods }) => sum + pods.length, 0),
      newNodes: newNodes.length,
      withoutPlace: unplaced.reduce((sum, { pods }) => sum + pods.length, 0),
    };
    const found = JSON.stringify(counts);
    const isNews = newNodes.length > 0 || (counts.onExistingNodes > 0 && found !== this.#last);
    const level = isNews ? 'info' : 'debug';
    this.#last = found;
    const price = newNodes.length === 0 ? {} : { pricePerHour: solution.price, lowerBound: solution.lowerBound };
    this.#logger[level]('found places for pods', { ...counts, ...price, seconds });
    // Pods that are alike share one reason.
    for (const [reason, groups] of Map.groupBy(unplaced, (group) => group.reason)) {
      const pods = groups.flatMap((group) => group.pods.map((number) => built.pods[number] as Pod));
      this.#withoutPlace(pods, reasonSentence(reason));
    }
    for (const { pod, problem } of built.held) this.#withoutPlace([pod], problem);
  }

  #withoutPlace(pods: readonly Pod[], why: string): void {
    const [first] = pods;
    // Other pods with the same trouble are news, the same pods are not; a Deployment's pods are one.
    const owner = first?.metadata.ownerReferences?.[0]?.uid ?? first?.metadata.uid ?? '';
    if (first === undefined || this.#reasons.say(owner) === undefined) return;
    const names = pods.slice(0, NAMED).map((pod) => keyText(keyOf(pod)));
    this.#logger.warn('no place for pods', { pods: pods.length, names, why });
  }
}
