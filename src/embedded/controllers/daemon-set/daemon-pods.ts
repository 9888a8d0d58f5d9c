/** Decides which nodes a DaemonSet's pods belong on, and builds these pods. Pure. */
import type { Node } from '../../../apis/kubernetes/node.ts';
import { requiredNodes } from '../../../apis/kubernetes/node-selector.ts';
import type { NodeSelectorTerm, Pod, PodSpec, Toleration } from '../../../apis/kubernetes/pod.ts';
import {
  addTolerations,
  TAINT_DISK_PRESSURE,
  TAINT_MEMORY_PRESSURE,
  TAINT_NETWORK_UNAVAILABLE,
  TAINT_NOT_READY,
  TAINT_PID_PRESSURE,
  TAINT_UNREACHABLE,
  TAINT_UNSCHEDULABLE,
  untoleratedTaint,
} from '../../../apis/kubernetes/taints.ts';
import type { DaemonSet } from '../../../apis/kubernetes/workloads.ts';
import { podFromTemplate } from '../owned-pod.ts';
import { REVISION_LABEL } from '../revisions.ts';

const exists = (key: string, effect: 'NoSchedule' | 'NoExecute'): Toleration => ({ key, operator: 'Exists', effect });
const TOLERATED: readonly Toleration[] = [
  exists(TAINT_NOT_READY, 'NoExecute'),
  exists(TAINT_UNREACHABLE, 'NoExecute'),
  exists(TAINT_DISK_PRESSURE, 'NoSchedule'),
  exists(TAINT_MEMORY_PRESSURE, 'NoSchedule'),
  exists(TAINT_PID_PRESSURE, 'NoSchedule'),
  exists(TAINT_UNSCHEDULABLE, 'NoSchedule'),
];

/** Decides whether a node should get a pod, and whether an existing pod may stay. */
export function daemonNodes(
  daemonSet: DaemonSet,
): (node: Node) => { readonly shouldRun: boolean; readonly mayStay: boolean } {
  const { spec } = daemonSet.spec.template;
  const matcher = requiredNodes(spec);
  const tolerations = daemonTolerations(spec);
  return (node) => {
    const name = node.metadata.name ?? '';
    const fits = (!spec.nodeName || spec.nodeName === name) && matcher.matches(name, node.metadata.labels);
    if (!fits) return { shouldRun: false, mayStay: false };
    const { taints } = node.spec ?? {};
    return {
      shouldRun: untoleratedTaint(taints, tolerations, ['NoSchedule', 'NoExecute']) === undefined,
      mayStay: untoleratedTaint(taints, tolerations, ['NoExecute']) === undefined,
    };
  };
}

/** A pod for a node. The scheduler binds it, but can choose no other node. */
export function daemonPod(daemonSet: DaemonSet, nodeName: string, hash: string): Pod {
  const { template } = daemonSet.spec;
  const pod = podFromTemplate(daemonSet, template, {
    generateName: `${daemonSet.metadata.name}-`,
    labels: { [REVISION_LABEL]: hash, 'pod-template-generation': String(daemonSet.metadata.generation ?? 1) },
  });
  return {
    ...pod,
    spec: {
      ...pod.spec,
      tolerations: daemonTolerations(pod.spec),
      affinity: { ...pod.spec.affinity, nodeAffinity: onNode(pod.spec, nodeName) },
    },
  };
}

/** The node that a daemon pod runs on or is meant for. */
export function nodeOf(pod: Pod): string {
  if (pod.spec.nodeName) return pod.spec.nodeName;
  const terms =
    pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const field = terms.flatMap(({ matchFields }) => matchFields ?? []).find(({ key }) => key === 'metadata.name');
  return field?.values?.[0] ?? '';
}

function daemonTolerations(spec: PodSpec): readonly Toleration[] {
  const network = spec.hostNetwork ? [exists(TAINT_NETWORK_UNAVAILABLE, 'NoSchedule')] : [];
  return addTolerations(spec.tolerations, [...TOLERATED, ...network]);
}

function onNode(spec: PodSpec, nodeName: string): NonNullable<NonNullable<PodSpec['affinity']>['nodeAffinity']> {
  const field = { key: 'metadata.name', operator: 'In', values: [nodeName] };
  const wanted = spec.affinity?.nodeAffinity;
  const terms = wanted?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  // The controller has already matched the other requirements; only the node is left.
  const nodeSelectorTerms: NodeSelectorTerm[] =
    terms.length === 0 ? [{ matchFields: [field] }] : terms.map(() => ({ matchFields: [field] }));
  return {
    ...wanted,
    requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: nodeSelectorTerms.slice(0, 1) },
  };
}
