/**
 * The kubelets of all simulated nodes. Registers nodes or takes over Node objects created for it, keeps their leases
 * and conditions fresh, and simulates the pods bound to them. All nodes share one work queue for nodes and one for
 * pods.
 */

import { kubeletLabels } from '../../apis/kubernetes/kubelet-labels.ts';
import { LEASES, type Lease } from '../../apis/kubernetes/lease.ts';
import { NODES, type Node } from '../../apis/kubernetes/node.ts';
import { keyOf, keyText } from '../../apis/kubernetes/object.ts';
import { PODS, type Pod } from '../../apis/kubernetes/pod.ts';
import type { KubeClient } from '../../kube/client.ts';
import { Controller, type ReconcileResult } from '../../kube/controller.ts';
import { enqueueOn } from '../../kube/enqueue.ts';
import { type Clock, toMicroTime, toTimestamp } from '../../platform/clock.ts';
import { hasCode } from '../../platform/errors.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { Turns } from '../../platform/turns.ts';
import { type ClusterInformers, NODE_LEASES } from '../cluster-informers.ts';
import { patchNewest } from '../patch-newest.ts';
import { parseDuration } from './duration.ts';
import { nodeStatus, registration, SIMULATED, type SimulatedNode } from './node-report.ts';
import { PodAddresses } from './pod-addresses.ts';
import { acceptPod, advancePod, isStopped, type PodRun, podChangesAt, stopPod } from './pod-run.ts';
import { NO_DELAYS, type PodDelays, podScript, READY_AFTER } from './pod-script.ts';
import { podStatus } from './pod-status.ts';

export interface KubeletsOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly informers: ClusterInformers;
  readonly logger?: Logger;
  readonly metrics?: Metrics;
  /** Delays of pods that do not specify their own; none by default. */
  readonly delays?: Partial<PodDelays>;
  readonly leaseRenewMs?: number;
}

interface Machine {
  readonly name: string;
  readonly addresses: PodAddresses;
  readonly readyAt: number;
  /** A dead machine reports nothing and runs nothing. */
  state: 'alive' | 'shutting-down' | 'dead';
  leaseDueAt: number;
  statusDueAt: number;
}

interface PlayedPod {
  readonly uid: string | undefined;
  readonly podIP: string;
  readonly machine: Machine;
  run: PodRun;
}

/** Yields to the event loop after this many nodes and pods. */
const SYNCS_PER_TURN = 50;
const LEASE_SECONDS = 40;
const STATUS_EVERY_MS = 300_000;
const SHUTDOWN_GRACE_MS = 30_000;
const SHUTDOWN = { reason: 'Terminated', message: 'Pod was terminated in response to imminent node shutdown.' };

export class Kubelets {
  readonly #options: KubeletsOptions;
  readonly #delays: PodDelays;
  readonly #leaseRenewMs: number;
  readonly #machines = new Map<string, Machine>();
  readonly #pods = new Map<string, PlayedPod>();
  readonly #nodeWork: Controller;
  readonly #podWork: Controller;
  readonly #turns: Turns;
  #numbers = 0;

  constructor(options: KubeletsOptions) {
    this.#options = options;
    this.#delays = { ...NO_DELAYS, ...options.delays };
    this.#leaseRenewMs = options.leaseRenewMs ?? 10_000;
    this.#turns = new Turns(options.clock, SYNCS_PER_TURN);
    const { clock, logger, metrics } = options;
    const shared = { clock, ...(logger && { logger }), ...(metrics && { metrics }), concurrency: 32 };
    this.#nodeWork = new Controller({ ...shared, name: 'kubelet.node', reconcile: (key) => this.#syncNode(key) });
    this.#podWork = new Controller({ ...shared, name: 'kubelet.pod', reconcile: (key) => this.#syncPod(key) });
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { informers } = this.#options;
    const stops = [
      informers.nodes.addHandler({
        added: (node) => this.#nodeSeen(node),
        updated: (node) => this.#nodeSeen(node),
        deleted: (node) => this.#nodeGone(node.metadata.name ?? ''),
      }),
      enqueueOn(informers.pods, this.#podWork.queue, (pod) => (pod.spec.nodeName ? [keyText(keyOf(pod))] : [])),
    ];
    try {
      await informers.synced(signal);
      await Promise.all([this.#nodeWork.run(signal), this.#podWork.run(signal)]);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      for (const stop of stops) stop();
    }
  }

  /** Registers a machine as a node of the cluster. */
  async join(machine: SimulatedNode): Promise<Node> {
    return this.#options.client.create(NODES, registration(machine, toTimestamp(this.#options.clock.now())));
  }

  /** Cuts the machine's power: it stops reporting, and its pods stop without a final status. */
  kill(name: string): void {
    const machine = this.#machines.get(name);
    if (machine !== undefined) machine.state = 'dead';
  }

  /** Brings a dead machine back with the pods it had. */
  revive(name: string): void {
    const machine = this.#machines.get(name);
    if (machine === undefined) return;
    machine.state = 'alive';
    machine.leaseDueAt = 0;
    machine.statusDueAt = 0;
    this.#wakeMachine(machine);
  }

  /** Shuts the machine down: it reports that, stops its pods within their grace period, and is then dead. */
  shutDown(name: string): void {
    const machine = this.#machines.get(name);
    if (machine === undefined || machine.state !== 'alive') return;
    machine.state = 'shutting-down';
    machine.statusDueAt = 0;
    this.#wakeMachine(machine);
  }

  #wakeMachine(machine: Machine): void {
    this.#nodeWork.queue.add(machine.name);
    for (const pod of this.#options.informers.pods.byIndex('node', machine.name))
      this.#podWork.queue.add(keyText(keyOf(pod)));
  }

  #nodeSeen(node: Node): void {
    const name = node.metadata.name ?? '';
    const known = this.#machines.get(name);
    if (known !== undefined) {
      // The control plane considers the node lost, so the kubelet reports its status again.
      const doubted = node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'Unknown');
      if (doubted && known.state !== 'dead') {
        known.statusDueAt = 0;
        this.#nodeWork.queue.add(name);
      }
      return;
    }
    if (node.metadata.annotations?.[SIMULATED] !== 'true') return;
    const readyAfter = parseDuration(node.metadata.annotations[READY_AFTER]) ?? 0;
    const machine: Machine = {
      name,
      addresses: new PodAddresses(this.#numbers++),
      readyAt: this.#options.clock.now() + readyAfter,
      state: 'alive',
      leaseDueAt: 0,
      statusDueAt: 0,
    };
    this.#machines.set(name, machine);
    this.#wakeMachine(machine);
  }

  #nodeGone(name: string): void {
    this.#machines.delete(name);
    for (const [key, played] of this.#pods) if (played.machine.name === name) this.#pods.delete(key);
  }

  async #syncNode(name: string): Promise<ReconcileResult | undefined> {
    await this.#turns.take();
    const machine = this.#machines.get(name);
    const node = this.#options.informers.nodes.get(name);
    if (machine === undefined || node === undefined || machine.state === 'dead') return undefined;
    const now = this.#options.clock.now();
    if (now >= machine.statusDueAt) {
      await this.#report(machine, node, now);
      machine.statusDueAt = now < machine.readyAt ? machine.readyAt : now + STATUS_EVERY_MS;
    }
    if (machine.state === 'shutting-down' && this.#isEmpty(machine)) {
      machine.state = 'dead';
      return undefined;
    }
    if (now >= machine.leaseDueAt) {
      await this.#renewLease(machine, node);
      // Spreads the first renewals, so that a thousand nodes do not all report at the same moment.
      machine.leaseDueAt =
        machine.leaseDueAt === 0
          ? now + this.#leaseRenewMs * ((this.#numbers++ * 0.618) % 1)
          : now + this.#leaseRenewMs;
    }
    return { requeueAfterMs: Math.min(machine.leaseDueAt, machine.statusDueAt) - this.#options.clock.now() };
  }

  /** Whether no pod runs on the machine. */
  #isEmpty(machine: Machine): boolean {
    return this.#options.informers.pods.byIndex('node', machine.name).every(isOver);
  }

  async #report(machine: Machine, node: Node, now: number): Promise<void> {
    const { client, clock } = this.#options;
    const health = machine.state === 'shutting-down' ? 'shutting-down' : now < machine.readyAt ? 'starting' : 'ready';
    const labels = kubeletLabels(machine.name, node.metadata.labels);
    if (
      Object.keys(labels).some((key) => node.metadata.labels?.[key] === undefined) ||
      node.spec?.podCIDR === undefined
    ) {
      const { podCIDR } = machine.addresses;
      await patchNewest(client, NODES, node, () => ({ metadata: { labels }, spec: { podCIDR, podCIDRs: [podCIDR] } }));
    }
    const newest = this.#options.informers.nodes.get(machine.name) ?? node;
    await patchNewest(
      client,
      NODES,
      newest,
      (found) => ({ status: nodeStatus(found, machine.addresses.hostIP, health, toTimestamp(clock.now())) }),
      { subresource: 'status' },
    );
  }

  async #renewLease(machine: Machine, node: Node): Promise<void> {
    const { client, clock } = this.#options;
    const key = { name: machine.name, namespace: NODE_LEASES };
    const renewTime = toMicroTime(clock.now());
    try {
      await client.patch(LEASES, key, { type: 'merge', body: { spec: { renewTime } } }, { priority: 'high' });
    } catch (error) {
      if (!hasCode(error, 'KUBE_NOT_FOUND')) throw error;
      const lease: Lease = {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: {
          ...key,
          ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: machine.name, uid: node.metadata.uid ?? '' }],
        },
        spec: { holderIdentity: machine.name, leaseDurationSeconds: LEASE_SECONDS, renewTime },
      };
      await client.create(LEASES, lease, { priority: 'high' });
    }
  }

  async #syncPod(key: string): Promise<ReconcileResult | undefined> {
    await this.#turns.take();
    const pod = this.#options.informers.pods.get(key);
    if (pod === undefined) {
      this.#forget(key);
      return undefined;
    }
    const machine = this.#machines.get(pod.spec.nodeName ?? '');
    if (machine === undefined || machine.state === 'dead') return undefined;
    const now = this.#options.clock.now();
    const deleted = pod.metadata.deletionTimestamp !== undefined;
    if (isOver(pod)) {
      if (deleted) await this.#remove(pod);
      this.#forget(key);
      return undefined;
    }
    const played = this.#played(key, pod, machine, now);
    if (deleted) played.run = stopPod(played.run, (pod.metadata.deletionGracePeriodSeconds ?? 0) * 1000, now);
    else if (machine.state === 'shutting-down') {
      played.run = stopPod(
        played.run,
        Math.min(SHUTDOWN_GRACE_MS, (pod.spec.terminationGracePeriodSeconds ?? 30) * 1000),
        now,
      );
    }
    played.run = advancePod(played.run, pod, now);
    const over = isStopped(played.run, now);
    if (over && !deleted) played.run = { ...played.run, ended: SHUTDOWN };
    // A pod that is about to be removed gets no final status, unless a finalizer keeps it.
    if (!(over && deleted) || pod.metadata.finalizers?.length) await this.#reportPod(pod, played, now);
    if (over && deleted) await this.#remove(pod);
    const next = podChangesAt(played.run, pod, now);
    return next === Number.POSITIVE_INFINITY ? undefined : { requeueAfterMs: next - this.#options.clock.now() };
  }

  #played(key: string, pod: Pod, machine: Machine, now: number): PlayedPod {
    const known = this.#pods.get(key);
    if (known?.uid === pod.metadata.uid && known !== undefined) return known;
    this.#forget(key);
    const podIP = pod.spec.hostNetwork ? machine.addresses.hostIP : (pod.status?.podIP ?? machine.addresses.take());
    const played = { uid: pod.metadata.uid, podIP, machine, run: acceptPod(podScript(pod, this.#delays), now) };
    this.#pods.set(key, played);
    return played;
  }

  async #reportPod(pod: Pod, played: PlayedPod, now: number): Promise<void> {
    const place = { hostIP: played.machine.addresses.hostIP, podIP: played.podIP };
    const change = (newest: Pod): object | undefined => {
      const status = podStatus(newest, played.run, place, now);
      return saysTheSame(newest.status ?? {}, status) ? undefined : { status };
    };
    await patchNewest(this.#options.client, PODS, pod, change, { subresource: 'status' });
  }

  async #remove(pod: Pod): Promise<void> {
    const { uid } = pod.metadata;
    try {
      await this.#options.client.delete(PODS, keyOf(pod), {
        gracePeriodSeconds: 0,
        ...(uid !== undefined && { preconditions: { uid } }),
      });
    } catch (error) {
      if (!hasCode(error, 'KUBE_NOT_FOUND', 'KUBE_CONFLICT')) throw error;
    }
  }

  #forget(key: string): void {
    const played = this.#pods.get(key);
    if (played === undefined) return;
    this.#pods.delete(key);
    played.machine.addresses.giveBack(played.podIP);
  }
}

function isOver(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
}

/** Whether the old status already has all fields of the new one. */
function saysTheSame(old: object, fresh: object): boolean {
  const known = old as Record<string, unknown>;
  return Object.entries(fresh).every(([field, value]) => JSON.stringify(known[field]) === JSON.stringify(value));
}
