/**
 * Finds room for the pods of all units at once, as if their nodes were gone. Units with pods that have no other place are left out, and the
 * rest is solved again.
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
import { candidatesOf, type Unit } from './unit.ts';

/** A solution that places every pod of the candidates. */
export interface Placement {
  readonly candidates: readonly Candidate[];
  readonly built: BuiltProblem;
  readonly solution: Solution;
  /** The SpotPolicies that it does not keep. */
  readonly gaps: readonly SpreadGap[];
}

/** Places all pending and displaced pods of a snapshot. */
export type Solve = (snapshot: ClusterSnapshot, signal: AbortSignal) => Promise<Omit<Placement, 'candidates'>>;

export interface PlaceElsewhereOptions {
  readonly look: Look;
  readonly pools: readonly UsablePool[];
  /** Nodes that receive no pods. */
  readonly closed: readonly StateNode[];
  readonly solve: Solve;
  /** Receives why a unit is left out. */
  blocked(unit: Unit, why: string): void;
}

/** The placement of as many units as possible, earlier ones first; undefined if there is room for none. */
export async function placeElsewhere(
  units: readonly Unit[],
  options: PlaceElsewhereOptions,
  signal: AbortSignal,
): Promise<Placement | undefined> {
  const { look, pools, closed, solve, blocked } = options;
  let left = units;
  while (left.length > 0) {
    const candidates = candidatesOf(left);
    const solved = await solve(look.snapshot(pools, candidates, closed), signal);
    const { built, solution } = solved;
    const without = podsWithoutPlace(built, solution);
    const stuck = left.filter((unit) => podsOf(unit).some((pod) => without.has(pod)));
    if (stuck.length === 0) return { candidates, ...solved };
    if (stuck.length < left.length || left.length === 1) {
      for (const unit of stuck) {
        const pod = podsOf(unit).find((each) => without.has(each)) as Pod;
        blocked(unit, `pod ${pod.metadata.namespace}/${pod.metadata.name} has no other place: ${without.get(pod)}`);
      }
      left = left.filter((unit) => !stuck.includes(unit));
    } else {
      // No unit can be placed with all others; a part of them may fit.
      left = left.slice(0, Math.ceil(left.length / 2));
    }
  }
  return undefined;
}

function podsOf({ candidates }: Unit): Pod[] {
  return candidates.flatMap(({ pods }) => pods);
}

/** The pods without a place, and why. */
function podsWithoutPlace({ pods, held }: BuiltProblem, { unplaced }: Solution): Map<Pod, string> {
  const without = new Map<Pod, string>();
  for (const { pod, problem } of held) without.set(pod, problem);
  for (const { pods: numbers, reason } of unplaced) {
    const why = reasonSentence(reason);
    for (const number of numbers) without.set(pods[number] as Pod, why);
  }
  return without;
}
