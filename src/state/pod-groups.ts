/** Pods as the engine sees them, shared among equal pods: a cluster has many pods but few kinds of them. */
import type { Container, Pod } from '../apis/kubernetes/pod.ts';
import type { PodGroup } from '../engine/problem.ts';
import { type GroupedPod, podGroup } from './pod-group.ts';
import { AS_WRITTEN } from './prepare-pod.ts';

/** Equal pods share one object of this type. */
export interface SharedGroup {
  /** Named after the first pod. */
  readonly group: PodGroup;
}

export class PodGroups {
  readonly #groups = new Map<string, SharedGroup>();

  /** The group that a pod shares with equal pods. */
  of(pod: Pod, prepared: GroupedPod): SharedGroup {
    const key = outline(pod, prepared);
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    const shared = { group: podGroup(pod, prepared) };
    this.#groups.set(key, shared);
    return shared;
  }

  /** The group of a pod that stays on its node: only what anti-affinity rules of other pods see. */
  ofBound({ metadata, spec, ...pod }: Pod): SharedGroup {
    const { podAntiAffinity } = spec.affinity ?? {};
    const affinity = podAntiAffinity === undefined ? {} : { affinity: { podAntiAffinity } };
    return this.of({ ...pod, metadata, spec: { containers: [], ...affinity } }, AS_WRITTEN);
  }

  /** Drops groups without pods, once there are many. */
  tidy(used: ReadonlySet<SharedGroup>): void {
    if (this.#groups.size < 2 * used.size + 1000) return;
    for (const [key, group] of this.#groups) if (!used.has(group)) this.#groups.delete(key);
  }
}

/** The inputs of a group as text. Comparing them is much faster than building the group. */
function outline({ metadata, spec }: Pod, prepared: GroupedPod): string {
  const ofContainer = ({ resources, ports, restartPolicy }: Container) => [resources?.requests, ports, restartPolicy];
  return JSON.stringify([
    ...[metadata.namespace, metadata.labels],
    ...[spec.containers.map(ofContainer), spec.initContainers?.map(ofContainer)],
    ...[spec.resources?.requests, spec.overhead, spec.hostNetwork, spec.priority],
    ...[spec.nodeSelector, spec.affinity, spec.tolerations, spec.topologySpreadConstraints],
    ...(prepared === AS_WRITTEN ? [] : [prepared]),
  ]);
}
