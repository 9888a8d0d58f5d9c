/** Pods as the engine sees them, shared among pods that are alike: a cluster has many pods and few kinds of them. */
import type { Container, Pod } from '../apis/kubernetes/pod.ts';
import type { PodGroup } from '../engine/problem.ts';
import { podGroup } from './pod-group.ts';
import { AS_WRITTEN, type PreparedPod } from './prepare-pod.ts';

/** Pods that are alike have the same one of these. */
export interface SharedGroup {
  /** Named after the first of the pods that was looked at. */
  readonly group: PodGroup;
}

export class PodGroups {
  readonly #groups = new Map<string, SharedGroup>();

  /** What a pod has in common with all that are like it. */
  of(pod: Pod, prepared: PreparedPod): SharedGroup {
    const key = outline(pod, prepared);
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    const shared = { group: podGroup(pod, prepared) };
    this.#groups.set(key, shared);
    return shared;
  }

  /** What rules about other pods see of a pod that stays on its node: all that daemons of a kind have in common. */
  ofBound({ metadata, spec, ...pod }: Pod): SharedGroup {
    const { podAntiAffinity } = spec.affinity ?? {};
    const affinity = podAntiAffinity === undefined ? {} : { affinity: { podAntiAffinity } };
    return this.of({ ...pod, metadata, spec: { containers: [], ...affinity } }, AS_WRITTEN);
  }

  /** Forgets groups that no pod has any more, once there are many. */
  tidy(used: ReadonlySet<SharedGroup>): void {
    if (this.#groups.size < 2 * used.size + 1000) return;
    for (const [key, group] of this.#groups) if (!used.has(group)) this.#groups.delete(key);
  }
}

/** What a group is made from, as text: that is much less work than to make the group, and pods of a workload have the same one. */
function outline({ metadata, spec }: Pod, prepared: PreparedPod): string {
  const ofContainer = ({ resources, ports, restartPolicy }: Container) => [resources?.requests, ports, restartPolicy];
  return JSON.stringify([
    ...[metadata.namespace, metadata.labels],
    ...[spec.containers.map(ofContainer), spec.initContainers?.map(ofContainer)],
    ...[spec.resources?.requests, spec.overhead, spec.hostNetwork, spec.priority],
    ...[spec.nodeSelector, spec.affinity, spec.tolerations, spec.topologySpreadConstraints],
    ...(prepared === AS_WRITTEN ? [] : [prepared]),
  ]);
}
