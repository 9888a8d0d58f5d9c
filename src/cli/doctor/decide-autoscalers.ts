/** Other autoscalers in the cluster, and whether they and we act on the same nodes. Pure. */
import { LABEL_NODE_POOL } from '../../apis/karpenter/labels.ts';
import type { Node } from '../../apis/kubernetes/node.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import type { Finding } from './finding.ts';

export interface AutoscalerFacts {
  readonly pods: readonly Pod[];
  readonly nodes: readonly Node[];
  /** Names of the clouds that we serve. */
  readonly clouds: readonly string[];
  /** Our Lease; Karpenter in the same namespace waits for the same one. */
  readonly lease?: { readonly namespace: string; readonly name: string };
}

/** Taints that Cluster Autoscaler puts on a node that it is about to remove. */
const CLUSTER_AUTOSCALER_TAINTS = ['ToBeDeletedByClusterAutoscaler', 'DeletionCandidateOfClusterAutoscaler'];
const KARPENTER_LEASE = 'karpenter-leader-election';

/** The cloud that a Karpenter serves, by a part of its image. */
const KARPENTER_IMAGES: readonly (readonly [part: string, cloud: string])[] = [
  ['provider-ibm', 'ibm'],
  ['provider-gcp', 'gcp'],
  ['azure/karpenter', 'azure'],
  ['provider-azure', 'azure'],
  ['provider-cluster-api', 'cluster-api'],
  ['karpenter/controller', 'aws'],
  ['provider-aws', 'aws'],
];

export function decideAutoscalers(facts: AutoscalerFacts): Finding[] {
  const running = facts.pods.filter(({ status }) => status?.phase === 'Running' || status?.phase === 'Pending');
  const findings = [
    ...clusterAutoscaler(running.filter(isClusterAutoscaler), facts),
    ...karpenter(running.filter(isKarpenter), facts),
    ...ownPlace(running, facts),
  ];
  if (findings.length > 0) return findings;
  return [{ check: 'autoscalers', status: 'ok', text: 'no other autoscaler runs in this cluster' }];
}

function clusterAutoscaler([pod]: readonly Pod[], { nodes }: AutoscalerFacts): Finding[] {
  const doomed = nodes.filter(
    ({ metadata, spec }) =>
      metadata.labels?.[LABEL_NODE_POOL] !== undefined &&
      spec?.taints?.some(({ key }) => CLUSTER_AUTOSCALER_TAINTS.includes(key)) === true,
  );
  const names = doomed.map(({ metadata }) => metadata.name).slice(0, 3);
  const todo =
    'keep nodes of NodePools out of its node groups (--node-group-auto-discovery, --nodes), or scale it to 0; two autoscalers on one node delete each other’s nodes';
  if (doomed.length > 0) {
    const text = `Cluster Autoscaler is about to remove nodes of NodePools: ${names.join(', ')}`;
    return [{ check: 'autoscalers', status: 'failed', text, todo }];
  }
  if (pod === undefined) return [];
  const text = `Cluster Autoscaler runs as ${nameOf(pod)}; no node of a NodePool carries its taints now`;
  return [{ check: 'autoscalers', status: 'warning', text, todo }];
}

function karpenter(pods: readonly Pod[], { clouds, lease }: AutoscalerFacts): Finding[] {
  const [pod] = pods;
  if (pod === undefined) return [];
  const cloud = cloudOf(pod);
  if (cloud !== undefined && !clouds.includes(cloud)) {
    const text = `Karpenter runs as ${nameOf(pod)} for ${cloud}, which is not enabled here: each leaves the nodes of the other alone`;
    return [{ check: 'autoscalers', status: 'ok', text }];
  }
  if (lease?.name === KARPENTER_LEASE && lease.namespace === pod.metadata.namespace) {
    const text = `Karpenter runs as ${nameOf(pod)} and waits for the same Lease ${lease.namespace}/${lease.name}: one of the two acts`;
    const todo = 'scale Karpenter to 0 when the change is done (docs/migrate-from-karpenter.md)';
    return [{ check: 'autoscalers', status: 'warning', text, todo }];
  }
  const text = `Karpenter runs as ${nameOf(pod)} and acts on the same NodePools`;
  const todo =
    'scale it to 0 (kubectl scale deployment), or install Spindrift into its namespace so that they share one Lease (docs/migrate-from-karpenter.md)';
  return [{ check: 'autoscalers', status: 'failed', text, todo }];
}

/** Spindrift must not run on nodes that it can remove. */
function ownPlace(pods: readonly Pod[], { nodes }: AutoscalerFacts): Finding[] {
  const managed = new Set(
    nodes
      .filter(({ metadata }) => metadata.labels?.[LABEL_NODE_POOL] !== undefined)
      .map(({ metadata }) => metadata.name),
  );
  const own = pods.filter(({ metadata }) => metadata.labels?.['app.kubernetes.io/name'] === 'spindrift');
  return own
    .filter(({ spec }) => managed.has(spec.nodeName))
    .map((pod): Finding => {
      const text = `${nameOf(pod)} runs on ${pod.spec.nodeName}, a node that it manages itself`;
      const todo = 'keep it off by the default affinity of the chart (karpenter.sh/nodepool DoesNotExist)';
      return { check: 'autoscalers', status: 'failed', text, todo };
    });
}

function isClusterAutoscaler(pod: Pod): boolean {
  const { labels = {} } = pod.metadata;
  const named = [labels.app, labels['k8s-app'], labels['app.kubernetes.io/name']];
  return named.some((name) => name?.endsWith('cluster-autoscaler') === true) || hasImage(pod, 'cluster-autoscaler');
}

function isKarpenter(pod: Pod): boolean {
  return pod.metadata.labels?.['app.kubernetes.io/name'] === 'karpenter' || cloudOf(pod) !== undefined;
}

function cloudOf(pod: Pod): string | undefined {
  return KARPENTER_IMAGES.find(([part]) => hasImage(pod, part))?.[1];
}

function hasImage({ spec }: Pod, part: string): boolean {
  return spec.containers.some(({ image }) => image?.includes(part) === true);
}

function nameOf({ metadata }: Pod): string {
  return `${metadata.namespace}/${metadata.name}`;
}
