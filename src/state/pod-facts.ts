/**
 * What consolidation has to know of a pod, remembered with the pod, and shared among pods that are alike: a cluster has many
 * pods and few kinds of them.
 */
import { TAINT_DISRUPTED } from '../apis/karpenter/labels.ts';
import type { Pod } from '../apis/kubernetes/pod.ts';
import { tolerates } from '../apis/kubernetes/taints.ts';
import type { PodGroup } from '../engine/problem.ts';
import { isReschedulable } from './cluster-state.ts';
import { doNotDisruptUntil } from './do-not-disrupt.ts';
import { evictionCost } from './eviction-cost.ts';
import { podGroup } from './pod-group.ts';
import { podVolumes, type StorageLookup } from './pod-volumes.ts';

/** Pods that are alike have the same one of these. */
export interface SharedGroup {
  readonly group: PodGroup;
}

export interface PodFacts {
  /** `namespace/name`. */
  readonly name: string;
  /** It comes again elsewhere when its node goes; the others are part of what their node has to carry. */
  readonly moves: boolean;
  readonly group: SharedGroup;
  readonly evictionCost: number;
  /** A node that goes asks it to leave; the others stay until their node is gone, whatever they want. */
  readonly evictable: boolean;
  /** Until when it is not to be disrupted. */
  readonly protectedUntil: number | undefined;
  /** Why it could not come again elsewhere. */
  readonly volumeTrouble?: string;
}

export class PodFactsCache {
  readonly #facts = new WeakMap<Pod, PodFacts>();
  readonly #groups = new Map<string, SharedGroup>();

  /** What is known of a pod. */
  of(pod: Pod, storage: StorageLookup): PodFacts {
    const known = this.#facts.get(pod);
    if (known !== undefined) return known;
    const facts = this.#read(pod, storage);
    // Where its volumes are can change while the pod stays the same.
    if (!hasClaims(pod)) this.#facts.set(pod, facts);
    return facts;
  }

  /** Forgets groups that no pod has any more, once there are many. */
  tidy(used: ReadonlySet<SharedGroup>): void {
    if (this.#groups.size < 2 * used.size + 1000) return;
    for (const [key, group] of this.#groups) if (!used.has(group)) this.#groups.delete(key);
  }

  #read(pod: Pod, storage: StorageLookup): PodFacts {
    const { namespace = '', name = '' } = pod.metadata;
    const volumes = podVolumes(pod, storage);
    const group = podGroup(pod, ...('problem' in volumes ? [] : [volumes]));
    return {
      name: `${namespace}/${name}`,
      moves: isReschedulable(pod),
      group: this.#shared(group),
      evictionCost: Math.max(0, evictionCost(pod)),
      evictable: !(pod.spec.tolerations ?? []).some((toleration) => tolerates(toleration, TAINT_DISRUPTED)),
      protectedUntil: doNotDisruptUntil(pod),
      ...('problem' in volumes ? { volumeTrouble: volumes.problem } : {}),
    };
  }

  #shared(group: PodGroup): SharedGroup {
    const { name: _, ...rest } = group;
    const key = JSON.stringify(rest);
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    const shared = { group };
    this.#groups.set(key, shared);
    return shared;
  }
}

function hasClaims({ spec }: Pod): boolean {
  return (spec.volumes ?? []).some(
    ({ persistentVolumeClaim, ephemeral }) => persistentVolumeClaim !== undefined || ephemeral !== undefined,
  );
}
