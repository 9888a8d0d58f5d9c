/** Picks a node for a pod, or says why there is none. */
import type { Random } from '../../platform/random.ts';
import { passes, prepareCycle, refusalOf } from './filter.ts';
import { type FitFailure, fitFailure, podFailure } from './fit-failure.ts';
import type { NodeEntry } from './node-entry.ts';
import { dependsOnPods, type PodClass } from './pod-class.ts';
import { scoreNodes } from './score.ts';
import type { ClusterSnapshot } from './snapshot.ts';

export type Placement =
  | {
      readonly node: string;
      /** Claims that still need a volume at the node's location. */
      readonly unboundClaims: readonly string[];
    }
  | { readonly failure: FitFailure };

/** With at most this many nodes, all are checked. */
const FEWEST_CANDIDATES = 100;

export class NodePicker {
  readonly #random: Random;
  #next = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  pick(snapshot: ClusterSnapshot, podClass: PodClass): Placement {
    const version = dependsOnPods(podClass) ? snapshot.version : snapshot.relief;
    if (podClass.failure?.version === version) return podClass.failure;
    const { nodes } = snapshot;
    const { preemptionPolicy } = podClass.spec;
    const cycle = prepareCycle(snapshot, podClass);
    const fail = (failure: FitFailure): Placement => {
      podClass.failure = { version, failure };
      return { failure };
    };
    if ('problem' in cycle.volumes) return fail(podFailure(nodes.length, cycle.volumes.problem));
    const wanted = candidatesWanted(nodes.length);
    const candidates: NodeEntry[] = [];
    let looked = 0;
    for (; looked < nodes.length && candidates.length < wanted; looked++) {
      const entry = nodes[(this.#next + looked) % nodes.length] as NodeEntry;
      if (passes(cycle, entry)) candidates.push(entry);
    }
    // Each pod starts where the last one stopped, so that all nodes are considered equally.
    if (nodes.length > 0) this.#next = (this.#next + looked) % nodes.length;
    if (candidates.length === 0) {
      const refusals = nodes.map((entry) => refusalOf(cycle, entry)).filter((refusal) => refusal !== undefined);
      return fail(fitFailure(nodes.length, refusals, { preemptionPolicy }));
    }
    const best = candidates.length === 1 ? candidates[0] : this.#best(scoreNodes(cycle, candidates), candidates);
    return { node: (best as NodeEntry).name, unboundClaims: cycle.volumes.unbound };
  }

  /** A random node among those with the highest score. */
  #best(scores: Float64Array, candidates: readonly NodeEntry[]): NodeEntry {
    let best = 0;
    let ties = 1;
    for (let index = 1; index < candidates.length; index++) {
      const difference = (scores[index] as number) - (scores[best] as number);
      if (difference > 0) {
        best = index;
        ties = 1;
      } else if (difference === 0 && this.#random.below(++ties) === 0) best = index;
    }
    return candidates[best] as NodeEntry;
  }
}

/** How many feasible nodes are enough to choose from (kube-scheduler with `percentageOfNodesToScore: 5`). */
export function candidatesWanted(nodeCount: number): number {
  return Math.min(nodeCount, Math.max(FEWEST_CANDIDATES, Math.floor(nodeCount / 20)));
}
