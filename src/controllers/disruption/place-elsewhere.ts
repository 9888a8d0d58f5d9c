/**
 * Finds other places for the pods of nodes that should go: all of them at once, as if they were gone. Those that have
 * pods without a place are left out, and the rest is looked at again.
 */
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { reasonSentence } from '../../engine/explain/sentence.ts';
import type { Solution } from '../../engine/solution.ts';
import type { SpreadGap } from '../../engine/spot/spread-over-spot-pools.ts';
import type { BuiltProblem, ClusterSnapshot } from '../../state/build-problem.ts';
import type { StateNode } from '../../state/state-node.ts';
import type { UsablePool } from '../../state/usable-pool.ts';
import type { Candidate } from './candidate.ts';
import type { Look } from './look.ts';

/** How a plan gives every pod of these candidates a place. */
export interface Placement {
  readonly candidates: readonly Candidate[];
  readonly built: BuiltProblem;
  readonly solution: Solution;
  /** What of the policies it does not keep. */
  readonly gaps: readonly SpreadGap[];
}

/** Finds places for all pods of a snapshot that need one. */
export type Solve = (snapshot: ClusterSnapshot, signal: AbortSignal) => Promise<Omit<Placement, 'candidates'>>;

export interface PlaceElsewhereOptions {
  readonly look: Look;
  readonly pools: readonly UsablePool[];
  /** Nodes that nothing is moved to. */
  readonly closed: readonly StateNode[];
  readonly solve: Solve;
  /** Hears why a candidate is left out. */
  blocked(candidate: Candidate, why: string): void;
}

/** The places for as many of the candidates, first ones first, as there are places; undefined when there are none. */
export async function placeElsewhere(
  candidates: readonly Candidate[],
  options: PlaceElsewhereOptions,
  signal: AbortSignal,
): Promise<Placement | undefined> {
  const { look, pools, closed, solve, blocked } = options;
  let left = candidates;
  while (left.length > 0) {
    const solved = await solve(look.snapshot(pools, left, closed), signal);
    const { built, solution } = solved;
    const without = podsWithoutPlace(built, solution);
    const stuck = left.filter(({ pods }) => pods.some((pod) => without.has(pod)));
    if (stuck.length === 0) return { candidates: left, ...solved };
    if (stuck.length < left.length || left.length === 1) {
      for (const candidate of stuck) {
        const pod = candidate.pods.find((each) => without.has(each)) as Pod;
        blocked(
          candidate,
          `pod ${pod.metadata.namespace}/${pod.metadata.name} has no other place: ${without.get(pod)}`,
        );
      }
      left = left.filter((candidate) => !stuck.includes(candidate));
    } else {
      // There may be room for some of them, if not for all at once.
      left = left.slice(0, Math.ceil(left.length / 2));
    }
  }
  return undefined;
}

/** Why pods have no place. */
function podsWithoutPlace({ pods, held }: BuiltProblem, { unplaced }: Solution): Map<Pod, string> {
  const without = new Map<Pod, string>();
  for (const { pod, problem } of held) without.set(pod, problem);
  for (const { pods: numbers, reason } of unplaced) {
    const why = reasonSentence(reason);
    for (const number of numbers) without.set(pods[number] as Pod, why);
  }
  return without;
}
