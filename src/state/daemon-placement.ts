import type { Taint } from '../apis/kubernetes/node.ts';
import { requiredNodes } from '../apis/kubernetes/node-selector.ts';
import { untoleratedTaint } from '../apis/kubernetes/taints.ts';
import type { DaemonSet } from '../apis/kubernetes/workloads.ts';

/** Whether the DaemonSet will run a pod on a node with these labels and taints. */
export function daemonRunsOn(
  daemonSet: DaemonSet,
  labels: Readonly<Record<string, string>>,
  taints: readonly Taint[],
): boolean {
  const { spec } = daemonSet.spec.template;
  const hostname = labels['kubernetes.io/hostname'] ?? '';
  if (!requiredNodes(spec).matches(hostname, labels)) return false;
  return untoleratedTaint(taints, spec.tolerations ?? [], ['NoSchedule', 'NoExecute']) === undefined;
}
