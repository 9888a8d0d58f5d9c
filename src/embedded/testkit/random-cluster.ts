/** Small random clusters with a pod to schedule, in which every filter of the scheduler applies now and then. */
import type { Node, Taint } from '../../apis/kubernetes/node.ts';
import type {
  Container,
  LabelSelector,
  Pod,
  PodAffinityTerm,
  PodSpec,
  Toleration,
  TopologySpreadConstraint,
} from '../../apis/kubernetes/pod.ts';
import type { Random } from '../../platform/random.ts';

export interface RandomCluster {
  readonly nodes: readonly Node[];
  /** Pods that already have a node. */
  readonly placed: readonly Pod[];
  /** The pod to schedule. */
  readonly pod: Pod;
}

/** The namespaces of the pods, with their labels. */
export const NAMESPACE_LABELS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  default: {},
  other: { team: 'x' },
};

const ZONE = 'topology.kubernetes.io/zone';
const HOST = 'kubernetes.io/hostname';
const TOLERATIONS: readonly Toleration[] = [
  { key: 'spot', operator: 'Exists' },
  { operator: 'Exists', effect: 'NoSchedule' },
  { operator: 'Exists' },
  { key: 'spot', value: 'yes', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' },
];
const NODE_DEMANDS = [
  { key: 'disk', operator: 'In', values: ['ssd'] },
  { key: 'disk', operator: 'NotIn', values: ['ssd'] },
  { key: ZONE, operator: 'Exists' },
  { key: ZONE, operator: 'DoesNotExist' },
  { key: 'gen', operator: 'Gt', values: ['3'] },
  { key: 'gen', operator: 'Lt', values: ['5'] },
];

/** Generates a cluster; names start with the prefix. */
export function randomCluster(random: Random, prefix: string): RandomCluster {
  const draw = new Draw(random, prefix);
  const nodes = Array.from({ length: 2 + random.below(5) }, (_, index) => draw.node(index));
  const placed = Array.from({ length: random.below(9) }, (_, index) =>
    draw.pod(`p${index}`, random.pick(['default', 'default', 'other']), {
      ...draw.spec(false),
      nodeName: random.pick(nodes).metadata.name ?? '',
    }),
  );
  return { nodes, placed, pod: draw.pod('new', 'default', draw.spec(true)) };
}

class Draw {
  readonly #random: Random;
  readonly #prefix: string;

  constructor(random: Random, prefix: string) {
    this.#random = random;
    this.#prefix = prefix;
  }

  node(index: number): Node {
    const name = `${this.#prefix}-${index}`;
    const capacity = {
      cpu: this.#random.pick(['1', '2', '4']),
      memory: '8Gi',
      pods: this.#random.pick(['3', '110', '110']),
    };
    const labels = {
      [HOST]: name,
      disk: this.#random.pick(['ssd', 'hdd']),
      gen: String(this.#random.below(8)),
      ...(this.#chance(0.85) && { [ZONE]: this.#random.pick(['a', 'b', 'c']) }),
      ...(this.#chance(0.3) && { rack: `r${this.#random.below(2)}` }),
    };
    const taints: Taint[] = [
      ...this.#maybe<Taint>(0.25, () => ({
        key: 'spot',
        value: this.#random.pick(['yes', 'no']),
        effect: 'NoSchedule',
      })),
      ...this.#maybe<Taint>(0.1, () => ({ key: 'out', effect: 'NoExecute' })),
      ...this.#maybe<Taint>(0.1, () => ({ key: 'soft', effect: 'PreferNoSchedule' })),
    ];
    const spec = { taints, ...(this.#chance(0.15) && { unschedulable: true }) };
    return {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels },
      spec,
      status: { capacity, allocatable: capacity },
    };
  }

  pod(name: string, namespace: string, spec: PodSpec): Pod {
    const labels = { app: this.#random.pick(['web', 'db']), ver: this.#random.pick(['1', '2']) };
    return { apiVersion: 'v1', kind: 'Pod', metadata: { name: `${this.#prefix}-${name}`, namespace, labels }, spec };
  }

  /** Placed pods get only the fields that matter to other pods. */
  spec(searching: boolean): PodSpec {
    const required = (count: number) => ({
      requiredDuringSchedulingIgnoredDuringExecution: Array.from({ length: count }, () => this.#term()),
    });
    const terms = (): number => (this.#chance(0.2) ? 2 : 1);
    const affinity = {
      ...(this.#chance(searching ? 0.25 : 0.15) && { podAntiAffinity: required(terms()) }),
      ...(searching && this.#chance(0.25) && { podAffinity: required(terms()) }),
      ...(searching && this.#chance(0.2) && { nodeAffinity: this.#nodeAffinity() }),
    };
    return {
      containers: [this.#container(searching)],
      ...(Object.keys(affinity).length > 0 && { affinity }),
      ...(searching && this.#chance(0.15) && { nodeSelector: { disk: this.#random.pick(['ssd', 'hdd']) } }),
      ...(searching && this.#chance(0.35) && { tolerations: [this.#random.pick(TOLERATIONS)] }),
      ...(searching && this.#chance(0.35) && { topologySpreadConstraints: this.#spread() }),
      ...(searching && this.#chance(0.1) && { preemptionPolicy: 'Never' }),
    };
  }

  #container(searching: boolean): Container {
    const gpu = { 'example.com/gpu': '1' };
    const cpu = { cpu: this.#random.pick(searching ? ['100m', '500m', '1', '3'] : ['100m', '500m', '1']) };
    const address = this.#chance(0.3) ? { hostIP: this.#random.pick(['10.0.0.1', '10.0.0.2']) } : {};
    return {
      name: 'main',
      image: 'app',
      resources: searching && this.#chance(0.1) ? { requests: gpu, limits: gpu } : { requests: cpu },
      ...(this.#chance(0.12) && { ports: [{ containerPort: 80, hostPort: this.#random.pick([80, 81]), ...address }] }),
    };
  }

  #spread(): TopologySpreadConstraint[] {
    return Array.from({ length: 1 + this.#random.below(2) }, (_, index) => {
      const hard = this.#chance(0.8);
      return {
        maxSkew: 1 + this.#random.below(2),
        topologyKey: index === 0 ? ZONE : HOST,
        whenUnsatisfiable: hard ? 'DoNotSchedule' : 'ScheduleAnyway',
        labelSelector: this.#selector(),
        ...(this.#chance(0.3) && { nodeAffinityPolicy: 'Ignore' }),
        ...(this.#chance(0.3) && { nodeTaintsPolicy: 'Honor' }),
        ...(this.#chance(0.2) && { matchLabelKeys: ['ver'] }),
        ...(hard && this.#chance(0.25) && { minDomains: 2 + this.#random.below(2) }),
      };
    });
  }

  #nodeAffinity(): NonNullable<NonNullable<PodSpec['affinity']>['nodeAffinity']> {
    const nodeSelectorTerms = Array.from({ length: 1 + this.#random.below(2) }, () =>
      this.#chance(0.1)
        ? {
            matchFields: [
              { key: 'metadata.name', operator: this.#random.pick(['In', 'NotIn']), values: [`${this.#prefix}-0`] },
            ],
          }
        : { matchExpressions: [this.#random.pick(NODE_DEMANDS)] },
    );
    return { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } };
  }

  #term(): PodAffinityTerm {
    return {
      topologyKey: this.#random.pick([ZONE, HOST, HOST, 'rack']),
      labelSelector: this.#selector(),
      ...(this.#chance(0.3) && { namespaces: [this.#random.pick(['default', 'other'])] }),
      ...(this.#chance(0.2) && { namespaceSelector: this.#chance(0.5) ? {} : { matchLabels: { team: 'x' } } }),
    };
  }

  #selector(): LabelSelector {
    const app = this.#random.pick(['web', 'db']);
    if (this.#chance(0.8)) return { matchLabels: { app } };
    if (this.#chance(0.5)) return {};
    return { matchExpressions: [{ key: 'app', operator: this.#random.pick(['In', 'NotIn'] as const), values: [app] }] };
  }

  #chance(share: number): boolean {
    return this.#random.next() < share;
  }

  #maybe<T>(share: number, make: () => T): T[] {
    return this.#chance(share) ? [make()] : [];
  }
}
