/** Objects of a user of Karpenter on EKS. */

type Json = Readonly<Record<string, unknown>>;

/** A class that finds what seeding made. */
export function nodeClass(cluster: string, spec: Json = {}, name = 'default'): object {
  const tags = { 'karpenter.sh/discovery': cluster };
  return {
    apiVersion: 'karpenter.k8s.aws/v1',
    kind: 'EC2NodeClass',
    metadata: { name },
    spec: {
      role: `KarpenterNodeRole-${cluster}`,
      amiSelectorTerms: [{ alias: 'al2023@latest' }],
      subnetSelectorTerms: [{ tags }],
      securityGroupSelectorTerms: [{ tags }],
      ...spec,
    },
  };
}

export interface PoolOptions {
  readonly name: string;
  readonly capacityTypes: readonly string[];
  readonly requirements?: readonly object[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly object[];
  readonly disruption?: Json;
  readonly weight?: number;
  /** `default` unless said. */
  readonly nodeClass?: string;
}

export function nodePool(options: PoolOptions): object {
  const {
    name,
    capacityTypes,
    requirements = [],
    labels = {},
    taints,
    disruption,
    weight,
    nodeClass = 'default',
  } = options;
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name },
    spec: {
      ...(weight === undefined ? {} : { weight }),
      disruption: disruption ?? { consolidationPolicy: 'WhenEmpty', consolidateAfter: 'Never' },
      template: {
        metadata: { labels: { pool: name, ...labels } },
        spec: {
          nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: nodeClass },
          ...(taints === undefined ? {} : { taints }),
          requirements: [
            { key: 'karpenter.sh/capacity-type', operator: 'In', values: capacityTypes },
            { key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] },
            { key: 'kubernetes.io/os', operator: 'In', values: ['linux'] },
            ...requirements,
          ],
        },
      },
    },
  };
}

/** Pods that only nodes of one pool may run. */
export function deployment(
  name: string,
  pool: string,
  replicas: number,
  requests: Json = { cpu: '500m', memory: '512Mi' },
  podSpec: Json = {},
): object {
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'default' },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          terminationGracePeriodSeconds: 0,
          nodeSelector: { pool },
          containers: [{ name: 'main', image: 'example.com/app:1', resources: { requests } }],
          ...podSpec,
        },
      },
    },
  };
}

/** No two pods of a deployment on one node. */
export function apart(name: string): Json {
  const term = { labelSelector: { matchLabels: { app: name } }, topologyKey: 'kubernetes.io/hostname' };
  return { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } };
}
