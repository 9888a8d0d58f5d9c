/**
 * What consolidation has to know of a pod, remembered with the pod, and shared among pods that are alike: a cluster has many
 * pods and few kinds of them.
 */
import type { Pod } from '../apis/kubernetes/pod.ts';
import { isReschedulable } from './cluster-state.ts';
import { doNotDisruptUntil } from './do-not-disrupt.ts';
import { evictionCost } from './eviction-cost.ts';
import { hasFlavorLimits } from './flavor-limits.ts';
import { groupSize } from './group-size.ts';
import { isDrainable } from './is-drainable.ts';
import { dependsOnModel } from './model-flavors.ts';
import { PodGroups, type SharedGroup } from './pod-groups.ts';
import { hasClaim } from './pod-volumes.ts';
import { AS_WRITTEN, type PodSurroundings, preparePod } from './prepare-pod.ts';
import { isSteerable } from './steerable.ts';

export interface PodFacts {
  /** `namespace/name`. */
  readonly name: string;
  /** It comes again elsewhere when its node goes; the others are part of what their node has to carry. */
  readonly moves: boolean;
  /** What it asks for; of one that does not move, what others see of it. */
  readonly group: SharedGroup;
  readonly evictionCost: number;
  /** A node that goes asks it to leave; the others stay until their node is gone, whatever they want. */
  readonly evictable: boolean;
  /** Until when it is not to be disrupted. */
  readonly protectedUntil: number | undefined;
  /** Whether the one that takes its place can be put where a plan wants it. */
  readonly steerable: boolean;
  /** Why it could not come again elsewhere. */
  readonly stuck?: string;
}

/** Where it would take more of another node than its requests say, its move is not planned by these. */
const BY_FLAVOR = 'what it takes of a node depends on the flavor of its model';

export class PodFactsCache {
  readonly #facts = new WeakMap<Pod, PodFacts>();
  readonly #groups = new PodGroups();

  /** Whether a pod has been looked at before, which is quick to look at again. */
  knows(pod: Pod): boolean {
    return this.#facts.has(pod);
  }

  /** What is known of a pod. */
  of(pod: Pod, surroundings: PodSurroundings): PodFacts {
    const known = this.#facts.get(pod);
    if (known !== undefined) return known;
    const facts = this.#read(pod, surroundings);
    // Where its volumes are can change while the pod stays the same, and so can the flavors of its model and the rule of its service.
    const changes = pod.spec.volumes?.some(hasClaim) || dependsOnModel(pod) || surroundings.models?.capacity?.(pod);
    if (!changes) this.#facts.set(pod, facts);
    return facts;
  }

  /** Forgets groups that no pod has any more, once there are many. */
  tidy(used: ReadonlySet<SharedGroup>): void {
    this.#groups.tidy(used);
  }

  #read(pod: Pod, surroundings: PodSurroundings): PodFacts {
    const { namespace = '', name = '' } = pod.metadata;
    const moves = isReschedulable(pod);
    const found = preparePod(pod, surroundings);
    const stuck = 'problem' in found ? found.problem : hasFlavorLimits(pod) ? BY_FLAVOR : undefined;
    return {
      name: `${namespace}/${name}`,
      moves,
      group: moves ? this.#groups.of(pod, 'problem' in found ? AS_WRITTEN : found) : this.#groups.ofBound(pod),
      // A group is one unit: whoever evicts one of its pods makes all of them start anew.
      evictionCost: Math.max(0, evictionCost(pod)) * groupSize(pod),
      evictable: isDrainable(pod),
      protectedUntil: doNotDisruptUntil(pod),
      steerable: isSteerable(pod),
      ...(stuck === undefined ? {} : { stuck }),
    };
  }
}
