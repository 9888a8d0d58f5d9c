/** The settings with which a machine joins the cluster as the node of its claim. */
import type { IBMNodeClassSpec } from '../../../apis/ibm/ibm-node-class.ts';
import { LABEL_NODE_POOL, nodeClassLabel, TAINT_UNREGISTERED } from '../../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import type { Taint } from '../../../apis/kubernetes/node.ts';
import type { Labels } from '../../../engine/problem.ts';
import { type KubeletReservations, kubeletReservations } from '../profiles/kubelet-reservations.ts';

/** Settings that all machines of a cluster share. */
export interface ClusterFacts {
  /** `https://10.0.0.1:6443`. */
  readonly endpoint: string;
  /** In PEM. */
  readonly certificateAuthority: string;
  readonly dns: readonly string[];
  /** `1.36`: the version to install if the image has no kubelet. */
  readonly kubernetesMinor: string;
}

export interface JoinSettings extends ClusterFacts {
  readonly nodeName: string;
  readonly region: string;
  readonly token: string;
  readonly labels: Labels;
  readonly taints: readonly Taint[];
  readonly reservations: KubeletReservations;
  readonly kubelet: NonNullable<IBMNodeClassSpec['kubelet']>;
}

export interface JoinOptions {
  readonly claim: NodeClaim;
  readonly spec: Pick<IBMNodeClassSpec, 'kubelet' | 'region' | 'apiServerEndpoint'>;
  readonly facts: ClusterFacts;
  readonly token: string;
  readonly vcpu: number;
  /** From the launched offering. */
  readonly labels: Labels;
}

/** The settings of a claim's machine. */
export function joinSettings({ claim, spec, facts, token, vcpu, labels }: JoinOptions): JoinSettings {
  const { metadata } = claim;
  const { nodeClassRef, taints = [], startupTaints = [] } = claim.spec;
  const own = {
    ...metadata.labels,
    ...labels,
    [nodeClassLabel(nodeClassRef)]: nodeClassRef.name,
    ...(metadata.labels?.[LABEL_NODE_POOL] === undefined
      ? {}
      : { [LABEL_NODE_POOL]: metadata.labels[LABEL_NODE_POOL] }),
  };
  return {
    ...facts,
    endpoint: spec.apiServerEndpoint ?? facts.endpoint,
    dns: spec.kubelet?.clusterDNS ?? facts.dns,
    nodeName: metadata.name ?? '',
    region: spec.region,
    token,
    labels: Object.fromEntries(Object.entries(own).filter(([key]) => kubeletMaySet(key))),
    taints: [...taints, ...startupTaints, TAINT_UNREGISTERED],
    reservations: kubeletReservations(vcpu, spec.kubelet),
    kubelet: spec.kubelet ?? {},
  };
}

/** Labels of Kubernetes' own domains that NodeRestriction lets a kubelet set; the registration controller copies the others. */
const OF_KUBELETS =
  /^(?:(?:beta\.)?kubernetes\.io\/(?:hostname|arch|os|instance-type)|(?:topology|failure-domain\.beta)\.kubernetes\.io\/(?:zone|region)|node\.kubernetes\.io\/instance-type)$/;

function kubeletMaySet(key: string): boolean {
  const [domain = ''] = key.includes('/') ? key.split('/') : [''];
  const reserved =
    domain === 'kubernetes.io' ||
    domain.endsWith('.kubernetes.io') ||
    domain === 'k8s.io' ||
    domain.endsWith('.k8s.io');
  if (!reserved) return true;
  return OF_KUBELETS.test(key) || /^(?:.+\.)?(?:kubelet|node)\.kubernetes\.io$/.test(domain);
}
