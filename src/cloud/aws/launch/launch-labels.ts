/** The labels and taints that a node registers itself with. */
import { LABEL_CAPACITY_TYPE, LABEL_DO_NOT_SYNC_TAINTS, TAINT_UNREGISTERED } from '../../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import type { Taint } from '../../../apis/kubernetes/node.ts';
import type { Labels } from '../../../engine/problem.ts';

/** A kubelet may not set labels of these domains on its own node; the registration controller sets them. */
const NOT_FOR_KUBELETS = /(^|\.)(kubernetes\.io|k8s\.io)$/;

/** The claim's labels that a kubelet may set, and the label that says it has set the taints itself. */
export function launchLabels(claim: NodeClaim, capacityType: string): Labels {
  const labels = {
    ...claim.metadata.labels,
    [LABEL_CAPACITY_TYPE]: capacityType,
    [LABEL_DO_NOT_SYNC_TAINTS]: 'true',
  };
  return Object.fromEntries(Object.entries(labels).filter(([key]) => !NOT_FOR_KUBELETS.test(domainOf(key))));
}

export function launchTaints({ spec }: NodeClaim): readonly Taint[] {
  return [...(spec.taints ?? []), ...(spec.startupTaints ?? []), TAINT_UNREGISTERED] as readonly Taint[];
}

function domainOf(key: string): string {
  const slash = key.indexOf('/');
  return slash < 0 ? '' : key.slice(0, slash);
}
