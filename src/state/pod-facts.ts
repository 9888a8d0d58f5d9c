/**
 * Facts about a pod that consolidation needs, cached with the pod and shared among equal pods: a cluster has many pods but few kinds of
 * them.
 */
import type { Pod } from '../apis/kubernetes/pod.ts';
import { isReschedulable } from './cluster-state.ts';
import { doNotDisruptUntil } from './do-not-disrupt.ts';
import { evictionCost } from './eviction-cost.ts';
import { hasFlavorLimits } from './flavor-limits.ts';
import { isDrainable } from './is-drainable.ts';
import { dependsOnModel } from './model-flavors.ts';
import { PodGroups, type SharedGroup } from './pod-groups.ts';
import { hasClaim } from './pod-volumes.ts';
import { AS_WRITTEN, type PodSurroundings, preparePod } from './prepare-pod.ts';
import { isSteerable } from './steerable.ts';
import { groupSize } from './worker-group.ts';

export interface PodFacts {
  /** `namespace/name`. */
  readonly name: string;
  /** It is recreated elsewhere when its node is removed. Other pods count as part of their node's load. */
  readonly moves: boolean;
  /** Its scheduling inputs; for a pod that is not recreated, only those that affect other pods. */
  readonly group: SharedGroup;
  readonly evictionCost: number;
  /** A drain evicts it. Other pods stay until their node is gone. */
  readonly evictable: boolean;
  /** Until when it must not be disrupted. */
  readonly protectedUntil: number | undefined;
  /** Whether its replacement can be bound to the node that a plan chooses. */
  readonly steerable: boolean;
  /** Why it could not be recreated elsewhere. */
  readonly stuck?: string;
}

/** Its requests on another node would differ from those in the pod, so no move is planned. */
const BY_FLAVOR = 'what it takes of a node depends on the flavor of its model';

export class PodFactsCache {
  readonly #facts = new WeakMap<Pod, PodFacts>();
  readonly #groups = new PodGroups();

  /** Whether the facts of a pod are cached. */
  knows(pod: Pod): boolean {
    return this.#facts.has(pod);
  }

  /** The facts of a pod. */
  of(pod: Pod, surroundings: PodSurroundings): PodFacts {
    const known = this.#facts.get(pod);
    if (known !== undefined) return known;
    const facts = this.#read(pod, surroundings);
    // These can change while the pod stays the same: the zones of its volumes, the flavors of its model, the rule of its service.
    const changes = pod.spec.volumes?.some(hasClaim) || dependsOnModel(pod) || surroundings.models?.capacity?.(pod);
    if (!changes) this.#facts.set(pod, facts);
    return facts;
  }

  /** Drops groups without pods, once there are many. */
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
      // Evicting one pod of a group restarts all of them.
      evictionCost: Math.max(0, evictionCost(pod)) * groupSize(pod),
      evictable: isDrainable(pod),
      protectedUntil: doNotDisruptUntil(pod),
      steerable: isSteerable(pod),
      ...(stuck === undefined ? {} : { stuck }),
    };
  }
}
