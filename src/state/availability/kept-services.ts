/** The services that keep a number of replicas ready, and their pods, in step with the caches. */
import { LABEL_CAPACITY_TYPE } from '../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import { compileLabelSelector, matchLabels } from '../../apis/kubernetes/label-selector.ts';
import { type KubeObject, keyOf, keyText, type Resource } from '../../apis/kubernetes/object.ts';
import type { LabelSelector, Pod } from '../../apis/kubernetes/pod.ts';
import { DEPLOYMENTS } from '../../apis/kubernetes/workloads.ts';
import { LABEL_SET_NAME, LABEL_WORKER_INDEX } from '../../apis/leader-worker-set/labels.ts';
import { LEADER_WORKER_SETS } from '../../apis/leader-worker-set/leader-worker-set.ts';
import { PLAYGROUNDS } from '../../apis/llmaz/playground.ts';
import { ANNOTATION_INTERRUPTION } from '../../apis/spindrift/annotations.ts';
import type { InformerHandler } from '../../kube/informer.ts';
import { BY_PROVIDER_ID, type ClusterInformers } from '../cluster-informers.ts';
import { hasEnded } from '../has-ended.ts';
import { isReady } from '../is-ready.ts';
import { type AvailabilityRule, availabilityRule } from './availability-rule.ts';
import {
  plannedCapacity,
  type Replica,
  type ReplicaCapacity,
  type ReplicaDemand,
  replicaDemand,
} from './replica-demand.ts';

/** A workload whose replicas are kept ready. */
export interface KeptService {
  /** `Kind namespace/name`. */
  readonly key: string;
  readonly kind: Resource;
  readonly object: Workload;
  /** Its rule, or the problem with it. */
  readonly rule: AvailabilityRule | { readonly problem: string };
  /** Whether the replica with the highest number is removed first, as a StatefulSet does. */
  readonly numbered: boolean;
}

/** An object with replicas. */
export interface Workload extends KubeObject {
  readonly spec?: { readonly replicas?: number; readonly selector?: LabelSelector };
}

interface Tracked extends KeptService {
  matches(pod: Pod): boolean;
  /** By `namespace/name`. */
  readonly pods: Map<string, Pod>;
}

type Watched = Pick<
  ClusterInformers,
  'pods' | 'nodes' | 'nodeClaims' | 'deployments' | 'leaderWorkerSets' | 'playgrounds'
>;

export class KeptServices {
  readonly #informers: Watched;
  readonly #services = new Map<string, Tracked>();
  /** Planned capacity by service and pod, until one of them changes. */
  readonly #planned = new Map<string, ReadonlyMap<string, ReplicaCapacity>>();
  readonly #listeners = new Set<(key: string) => void>();

  constructor(informers: Watched) {
    this.#informers = informers;
    const { deployments, leaderWorkerSets, playgrounds, pods, nodes, nodeClaims } = informers;
    deployments.addHandler(this.#following(DEPLOYMENTS));
    leaderWorkerSets.addHandler(this.#following(LEADER_WORKER_SETS));
    playgrounds.addHandler(this.#following(PLAYGROUNDS));
    const seen = (pod: Pod): void => {
      const key = keyText(keyOf(pod));
      for (const service of this.#services.values()) {
        const matches = service.matches(pod);
        if (matches) service.pods.set(key, pod);
        // Labels change, as when someone takes a pod out of its Deployment to debug it.
        if (matches || service.pods.delete(key)) this.#changed(service.key);
      }
    };
    pods.addHandler({
      added: seen,
      updated: seen,
      deleted: (pod) => {
        for (const service of this.#services.values()) {
          if (service.pods.delete(keyText(keyOf(pod)))) this.#changed(service.key);
        }
      },
    });
    const all = (): void => {
      for (const key of this.#services.keys()) this.#changed(key);
    };
    nodes.addHandler({ added: all, deleted: all });
    nodeClaims.addHandler({
      updated: (claim, old) => {
        if (isTaken(claim) !== isTaken(old) || claim.status?.providerID !== old.status?.providerID) all();
      },
      deleted: all,
    });
  }

  /** Calls back with the key of each service that changed, or whose pods changed. */
  onChange(listener: (key: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  list(): readonly KeptService[] {
    return [...this.#services.values()];
  }

  get(key: string): KeptService | undefined {
    return this.#services.get(key);
  }

  /** The service that a pod is a replica of. */
  of(pod: Pod): KeptService | undefined {
    const [service] = this.#servicesOf(pod);
    return service;
  }

  /** The replicas of a service as they are now. */
  replicas({ key }: KeptService): readonly Replica[] {
    return [...(this.#services.get(key)?.pods.values() ?? [])]
      .filter((pod) => !hasEnded(pod))
      .map((pod) => this.#replica(pod));
  }

  /** The number of replicas wanted; undefined if the rule cannot be read. */
  demand(service: KeptService, replicas = this.replicas(service)): ReplicaDemand | undefined {
    return 'problem' in service.rule ? undefined : replicaDemand(service.rule, replicas);
  }

  /** The capacity planned for a pod that needs a node, or the capacity of the node it has; undefined for pods of other workloads. */
  capacityOf(pod: Pod): ReplicaCapacity | undefined {
    const service = this.of(pod);
    if (service === undefined) return undefined;
    if ('problem' in service.rule) return undefined;
    return this.#plannedFor(service).get(keyText(keyOf(pod))) ?? this.#replica(pod).capacity;
  }

  #plannedFor(service: KeptService): ReadonlyMap<string, ReplicaCapacity> {
    const known = this.#planned.get(service.key);
    if (known !== undefined) return known;
    const replicas = this.replicas(service);
    const demand = this.demand(service, replicas) ?? { spot: 0, onDemand: 0 };
    const planned = new Map(
      [...plannedCapacity(demand, replicas)].map(([pod, capacity]) => [keyText(keyOf(pod)), capacity]),
    );
    this.#planned.set(service.key, planned);
    return planned;
  }

  #replica(pod: Pod): Replica {
    const { nodes, nodeClaims } = this.#informers;
    const { nodeName } = pod.spec;
    const going = pod.metadata.deletionTimestamp !== undefined;
    if (!nodeName) return { pod, capacity: undefined, ready: false, staying: !going };
    const node = nodes.get(nodeName);
    const [claim] = node === undefined ? [] : nodeClaims.byIndex(BY_PROVIDER_ID, node.spec?.providerID ?? '');
    const lost = node === undefined || node.metadata.deletionTimestamp !== undefined;
    const type = node?.metadata.labels?.[LABEL_CAPACITY_TYPE];
    return {
      pod,
      // A node without the label is not interruptible.
      capacity: type === 'spot' || type === 'reserved' ? 'spot' : 'on-demand',
      ready: isReady(pod),
      staying: !going && !lost && !(claim !== undefined && isTaken(claim)),
    };
  }

  #servicesOf(pod: Pod): Tracked[] {
    if (this.#services.size === 0) return [];
    return [...this.#services.values()].filter((service) => service.matches(pod));
  }

  #following(kind: Resource): InformerHandler<KubeObject> {
    const seen = (object: KubeObject): void => this.#seen(kind, object as Workload);
    return {
      added: seen,
      updated: seen,
      deleted: (object) => {
        const key = serviceKey(object);
        if (this.#services.delete(key)) this.#changed(key);
      },
    };
  }

  #seen(kind: Resource, object: Workload): void {
    const key = serviceKey(object);
    const rule = availabilityRule(object);
    if (rule === undefined) {
      if (this.#services.delete(key)) this.#changed(key);
      return;
    }
    const matches = podMatcher(object);
    const pods = new Map<string, Pod>();
    for (const pod of this.#informers.pods.list()) if (matches(pod)) pods.set(keyText(keyOf(pod)), pod);
    this.#services.set(key, { key, kind, object, rule, numbered: kind !== (DEPLOYMENTS as Resource), matches, pods });
    this.#changed(key);
  }

  #changed(key: string): void {
    this.#planned.delete(key);
    for (const listener of this.#listeners) listener(key);
  }
}

/** Whether the machine of a claim is deleted or interrupted; a node that consolidation replaces has a replacement before. */
function isTaken({ metadata }: NodeClaim): boolean {
  return metadata.deletionTimestamp !== undefined || metadata.annotations?.[ANNOTATION_INTERRUPTION] !== undefined;
}

function serviceKey(object: KubeObject): string {
  return `${object.kind} ${keyText(keyOf(object))}`;
}

/** Matches pods of a Deployment by its selector, and pods of LeaderWorkerSets by the label of the set. Leaders stand for their groups. */
function podMatcher({ kind, metadata, spec }: Workload): (pod: Pod) => boolean {
  const { matches } =
    kind === DEPLOYMENTS.kind
      ? compileLabelSelector(spec?.selector)
      : matchLabels({ [LABEL_SET_NAME]: metadata.name ?? '' });
  return (pod) =>
    pod.metadata.namespace === metadata.namespace &&
    (pod.metadata.labels?.[LABEL_WORKER_INDEX] ?? '0') === '0' &&
    matches(pod.metadata.labels ?? {});
}
