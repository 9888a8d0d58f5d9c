/** The cluster as controllers see it: the informer caches, plus created claims that the caches do not show yet. */
import type { NodeClaim } from '../apis/karpenter/node-claim.ts';
import type { Pod } from '../apis/kubernetes/pod.ts';
import type { DaemonSet } from '../apis/kubernetes/workloads.ts';
import { KeptServices } from './availability/kept-services.ts';
import { BY_NODE, type ClusterInformers, STATIC_BY_NODE } from './cluster-informers.ts';
import { DaemonPods } from './daemon-pods.ts';
import { flavorRankingOf } from './flavor-order.ts';
import { hasEnded } from './has-ended.ts';
import { JoinedNodes } from './joined-nodes.ts';
import { LearntRoom } from './learnt-room.ts';
import { leaderName, type ModelLookup } from './model-flavors.ts';
import { LoadingTimes } from './model-loading.ts';
import type { StorageLookup } from './pod-volumes.ts';
import type { StateNode } from './state-node.ts';

export class ClusterState {
  readonly informers: ClusterInformers;
  readonly storage: StorageLookup;
  readonly models: ModelLookup;
  /** The services that ask for a number of ready replicas. */
  readonly services: KeptServices;
  /** How long models take to load. */
  readonly loading: LoadingTimes;
  /** How much less room nodes have than planned. */
  readonly room: LearntRoom = new LearntRoom(this);
  /** Created claims that the cache does not show yet, by name. */
  readonly #assumed = new Map<string, NodeClaim>();
  readonly #joined: JoinedNodes;
  readonly #daemons: DaemonPods;

  /** `isOurs`: false for claims of another autoscaler. */
  constructor(informers: ClusterInformers, isOurs: (claim: NodeClaim) => boolean = () => true) {
    this.informers = informers;
    this.storage = {
      claim: (namespace, name) => informers.volumeClaims.get({ namespace, name }),
      volume: (name) => informers.volumes.get(name),
      storageClass: (name) => informers.storageClasses.get(name),
    };
    const services = new KeptServices(informers);
    this.services = services;
    this.loading = new LoadingTimes(informers.pods);
    const { openModels } = informers;
    this.models = {
      get presence() {
        return openModels.presence;
      },
      model: (name) => openModels.get(name),
      get gpuNames() {
        return informers.gpuNames.names;
      },
      leader: (worker) => {
        const name = leaderName(worker) ?? '';
        const pod = informers.pods.get({ namespace: worker.metadata.namespace ?? '', name });
        return pod && { pod, nodeLabels: informers.nodes.get(pod.spec.nodeName ?? '')?.metadata.labels };
      },
      get ranking() {
        return flavorRankingOf(informers.spotPolicies.list());
      },
      capacity: (pod) => services.capacityOf(pod),
    };
    const shown = ({ metadata }: NodeClaim): void => void this.#assumed.delete(metadata.name ?? '');
    informers.nodeClaims.addHandler({ added: shown, deleted: shown });
    this.#joined = new JoinedNodes(informers, isOurs);
    this.#daemons = new DaemonPods(informers);
  }

  /** Adds a created claim before the cache shows it. */
  assume(claim: NodeClaim): void {
    const name = claim.metadata.name ?? '';
    if (this.informers.nodeClaims.get(name) !== undefined) return;
    this.#assumed.set(name, claim);
    this.#joined.expect(claim);
  }

  /** The claim of that name, also one that the cache does not show yet. */
  claimNamed(name: string): NodeClaim | undefined {
    return this.informers.nodeClaims.get(name) ?? this.#assumed.get(name);
  }

  /** Every node, with its claim, and every claim that has no node yet. */
  nodes(): readonly StateNode[] {
    return this.#joined.list();
  }

  /** Every DaemonSet, with the requests that its pods really have. */
  daemonSets(): readonly DaemonSet[] {
    return this.#daemons.list();
  }

  /** Pods bound to a node that have not ended. */
  podsOn(node: string): Pod[] {
    const pods = this.informers.pods.byIndex(BY_NODE, node);
    return pods.some(hasEnded) ? pods.filter((pod) => !hasEnded(pod)) : pods;
  }

  /** The pods bound to a node that belong to the node itself, such as static pods. */
  staticPodsOn(node: string): Pod[] {
    return this.informers.pods.byIndex(STATIC_BY_NODE, node).filter((pod) => !hasEnded(pod));
  }

  /**
   * Unschedulable pods that a new node could help. Once there are any, pods that the scheduler has not considered yet count as well, up
   * to the priority of the unschedulable ones: the scheduler takes seconds for thousands of pods, the plan knows the free room, and one
   * plan for all pods is cheaper than several.
   */
  provisionable(): Pod[] {
    const waiting = this.informers.pods.list().filter(needsPlace);
    const short = new Map<string | undefined, number>();
    for (const pod of waiting) {
      if (isUnseen(pod)) continue;
      const { schedulerName, priority = 0 } = pod.spec;
      short.set(schedulerName, Math.max(priority, short.get(schedulerName) ?? priority));
    }
    return waiting.filter((pod) => {
      const { schedulerName, priority = 0 } = pod.spec;
      return !isUnseen(pod) || priority <= (short.get(schedulerName) ?? Number.NEGATIVE_INFINITY);
    });
  }
}

/** Whether an evicted pod is recreated on another node: not one that belongs to its node, nor one that is replaced already. */
export function isReschedulable(pod: Pod): boolean {
  const owners = pod.metadata.ownerReferences ?? [];
  if (hasEnded(pod) || owners.some(({ kind }) => kind === 'DaemonSet' || kind === 'Node')) return false;
  // The replacement of a terminating pod is pending already, except in a StatefulSet, which waits for its end.
  return pod.metadata.deletionTimestamp === undefined || owners.some(({ kind }) => kind === 'StatefulSet');
}

/** Whether the pod is pending and may need a node: not yet considered by the scheduler, or unschedulable without preemption. */
export function needsPlace(pod: Pod): boolean {
  if (pod.spec.nodeName || hasEnded(pod) || pod.metadata.deletionTimestamp !== undefined) return false;
  if (pod.status?.nominatedNodeName) return false;
  // Pods of a DaemonSet or of a kubelet belong to existing nodes.
  if (pod.metadata.ownerReferences?.some(({ kind }) => kind === 'DaemonSet' || kind === 'Node')) return false;
  if (isUnseen(pod)) return (pod.spec.schedulingGates ?? []).length === 0;
  const scheduled = scheduledCondition(pod);
  return scheduled?.status === 'False' && scheduled.reason === 'Unschedulable';
}

/** Whether the scheduler has not considered the pod yet. */
export function isUnseen(pod: Pod): boolean {
  return scheduledCondition(pod) === undefined;
}

function scheduledCondition(pod: Pod) {
  return pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
}
