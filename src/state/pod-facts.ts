/**
 * What consolidation has to know of a pod, remembered with the pod, and shared among pods that are alike: a cluster has many
 * pods and few kinds of them.
 */
import { TAINT_DISRUPTED } from '../apis/karpenter/labels.ts';
import type { Container, Pod } from '../apis/kubernetes/pod.ts';
import { tolerates } from '../apis/kubernetes/taints.ts';
import type { PodGroup } from '../engine/problem.ts';
import { isReschedulable } from './cluster-state.ts';
import { doNotDisruptUntil } from './do-not-disrupt.ts';
import { evictionCost } from './eviction-cost.ts';
import { NO_VOLUMES, type PodVolumes, podGroup } from './pod-group.ts';
import { podVolumes, type StorageLookup } from './pod-volumes.ts';
import { isSteerable } from './steerable.ts';

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
  /** Whether the one that takes its place can be put where a plan wants it. */
  readonly steerable: boolean;
  /** Why it could not come again elsewhere. */
  readonly volumeTrouble?: string;
}

export class PodFactsCache {
  readonly #facts = new WeakMap<Pod, PodFacts>();
  readonly #groups = new Map<string, SharedGroup>();

  /** Whether a pod has been looked at before, which is quick to look at again. */
  knows(pod: Pod): boolean {
    return this.#facts.has(pod);
  }

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
    const found = podVolumes(pod, storage);
    const volumes = 'problem' in found ? NO_VOLUMES : found;
    return {
      name: `${namespace}/${name}`,
      moves: isReschedulable(pod),
      group: this.#shared(pod, volumes),
      evictionCost: Math.max(0, evictionCost(pod)),
      evictable: !(pod.spec.tolerations ?? []).some((toleration) => tolerates(toleration, TAINT_DISRUPTED)),
      protectedUntil: doNotDisruptUntil(pod),
      steerable: isSteerable(pod),
      ...('problem' in found ? { volumeTrouble: found.problem } : {}),
    };
  }

  #shared(pod: Pod, volumes: PodVolumes): SharedGroup {
    const key = outline(pod, volumes);
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    const shared = { group: podGroup(pod, volumes) };
    this.#groups.set(key, shared);
    return shared;
  }
}

/** What a group is made from, as text: that is much less work than to make the group, and pods of a workload have the same one. */
function outline({ metadata, spec }: Pod, volumes: PodVolumes): string {
  const ofContainer = ({ resources, ports, restartPolicy }: Container) => [resources?.requests, ports, restartPolicy];
  return JSON.stringify([
    ...[metadata.namespace, metadata.labels],
    ...[spec.containers.map(ofContainer), spec.initContainers?.map(ofContainer)],
    ...[spec.resources?.requests, spec.overhead, spec.hostNetwork, spec.priority],
    ...[spec.nodeSelector, spec.affinity, spec.tolerations, spec.topologySpreadConstraints],
    ...(volumes === NO_VOLUMES ? [] : [volumes]),
  ]);
}

function hasClaims({ spec }: Pod): boolean {
  return (spec.volumes ?? []).some(
    ({ persistentVolumeClaim, ephemeral }) => persistentVolumeClaim !== undefined || ephemeral !== undefined,
  );
}
