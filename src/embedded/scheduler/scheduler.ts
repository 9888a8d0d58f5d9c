/**
 * The default scheduler: watches pods and nodes, picks a node for each pending pod, and binds it. A pod counts as
 * placed as soon as its node is picked, so that the next one is placed around it while the binding is in flight.
 */
import { NAMESPACES } from '../../apis/kubernetes/core.ts';
import type { Node } from '../../apis/kubernetes/node.ts';
import { type KubeObject, keyOf, keyText } from '../../apis/kubernetes/object.ts';
import { PODS, type Pod } from '../../apis/kubernetes/pod.ts';
import { PERSISTENT_VOLUME_CLAIMS, SELECTED_NODE } from '../../apis/kubernetes/volumes.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { EventRecorder } from '../../kube/event-recorder.ts';
import type { Informer } from '../../kube/informer.ts';
import { type Clock, toTimestamp } from '../../platform/clock.ts';
import { asError, hasCode } from '../../platform/errors.ts';
import { type Logger, SILENT_LOGGER } from '../../platform/logger.ts';
import type { Random } from '../../platform/random.ts';
import type { ClusterInformers } from '../cluster-informers.ts';
import { patchNewest } from '../patch-newest.ts';
import { passes, prepareCycle, roomFor } from './filter.ts';
import { NodePicker } from './node-picker.ts';
import { dependsOnPods, podClassKey } from './pod-class.ts';
import { notScheduled } from './pod-scheduled.ts';
import { SchedulingQueue, type WaitingPod } from './scheduling-queue.ts';
import { ClusterSnapshot } from './snapshot.ts';

export interface SchedulerOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly informers: ClusterInformers;
  readonly recorder: EventRecorder;
  readonly logger?: Logger;
  /** Schedules only pods with this schedulerName. */
  readonly name?: string;
}

/** At most this many bindings are in flight. */
const MOST_BINDINGS = 64;
/** Yields to the event loop after this many pods. */
const TURN = 100;

export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #name: string;
  readonly #logger: Logger;
  readonly #snapshot = new ClusterSnapshot();
  readonly #picker: NodePicker;
  readonly #queue: SchedulingQueue;
  /** Pods whose node is picked, but whose binding the informer has not shown yet. */
  readonly #assumed = new Set<string>();
  /** Nodes that may have room since the parked pods were last checked; an empty name stands for any node. */
  readonly #relieved = new Set<string>();
  #podsMoved = false;
  #bindings = 0;
  #wake: (() => void) | undefined;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#name = options.name ?? 'default-scheduler';
    this.#logger = (options.logger ?? SILENT_LOGGER).with({ controller: 'scheduler' });
    this.#picker = new NodePicker(options.random.split('scheduler'));
    this.#queue = new SchedulingQueue(options.clock, () => this.#rouse());
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const stops = this.#listen();
    const rouse = (): void => this.#rouse();
    signal.addEventListener('abort', rouse, { once: true });
    try {
      await this.#options.informers.synced(signal);
      await this.#work(signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      signal.removeEventListener('abort', rouse);
      for (const stop of stops) stop();
      this.#queue.close();
    }
  }

  async #work(signal: AbortSignal): Promise<void> {
    for (let tried = 1; !signal.aborted; tried++) {
      this.#releaseParked();
      const waiting = this.#bindings < MOST_BINDINGS ? this.#queue.pop() : undefined;
      if (waiting === undefined) await new Promise<void>((resolve) => (this.#wake = resolve));
      else this.#schedule(waiting, signal);
      if (tried % TURN === 0) await this.#options.clock.sleep(0, signal);
    }
  }

  #schedule(waiting: WaitingPod, signal: AbortSignal): void {
    const { pod } = waiting;
    const podClass = this.#snapshot.classOf(pod);
    const placement = this.#picker.pick(this.#snapshot, podClass);
    if ('failure' in placement) {
      this.#queue.park(waiting, podClass);
      // Other components act on the pod's condition. If it could not be written, the pod is retried soon.
      const said = this.#sayUnschedulable(pod, placement.failure.message, signal).catch((error) => {
        this.#queue.retry(waiting);
        throw error;
      });
      this.#background(said);
      return;
    }
    this.#assumed.add(waiting.key);
    this.#snapshot.place(pod, placement.node);
    this.#podsMoved = true;
    this.#bindings++;
    this.#background(
      this.#bind(waiting, placement.node, placement.unboundClaims, signal).finally(() => {
        this.#bindings--;
        this.#rouse();
      }),
    );
  }

  async #bind(waiting: WaitingPod, node: string, unboundClaims: readonly string[], signal: AbortSignal): Promise<void> {
    const { client, recorder } = this.#options;
    const { pod, key } = waiting;
    try {
      for (const name of unboundClaims) {
        const body = { metadata: { annotations: { [SELECTED_NODE]: node } } };
        const claim = { name, namespace: pod.metadata.namespace ?? '' };
        await client.patch(PERSISTENT_VOLUME_CLAIMS, claim, { type: 'merge', body }, { signal });
      }
      await client.bind(keyOf(pod), node, { signal });
      this.#assumed.delete(key);
      this.#queue.remove(key);
      const message = `Successfully assigned ${key} to ${node}`;
      recorder.record({ object: pod, type: 'Normal', reason: 'Scheduled', message });
    } catch (error) {
      if (signal.aborted) return;
      this.#assumed.delete(key);
      // Another client may have bound the pod meanwhile; then it stays where the informer shows it.
      const newest = this.#options.informers.pods.get(key);
      if (newest?.spec.nodeName) return;
      this.#removePod(key);
      if (newest === undefined || hasCode(error, 'KUBE_NOT_FOUND')) this.#queue.remove(key);
      else {
        // If another client bound the pod, the informer will show it.
        const level = hasCode(error, 'KUBE_CONFLICT') ? 'debug' : 'warn';
        this.#logger[level]('binding failed, will try again', { pod: key, node, error: asError(error) });
        this.#queue.retry(waiting);
      }
    }
  }

  async #sayUnschedulable(pod: Pod, message: string, signal: AbortSignal): Promise<void> {
    const { client, clock, recorder } = this.#options;
    recorder.record({ object: pod, type: 'Warning', reason: 'FailedScheduling', message });
    const now = toTimestamp(clock.now());
    const change = (newest: Pod) =>
      newest.spec.nodeName ? undefined : notScheduled(newest, 'Unschedulable', message, now);
    await patchNewest(client, PODS, pod, change, { signal, subresource: 'status' });
  }

  /** Retries parked pods that a change may have helped. */
  #releaseParked(): void {
    if (this.#relieved.size === 0 && !this.#podsMoved) return;
    const entries = [...this.#relieved]
      .map((name) => this.#snapshot.entry(name))
      .filter((entry) => entry !== undefined);
    const anything = this.#relieved.has('');
    for (const podClass of [...this.#queue.parkedClasses]) {
      if (anything || (this.#podsMoved && dependsOnPods(podClass))) {
        this.#queue.release(podClass);
        continue;
      }
      if (entries.length === 0) continue;
      const cycle = prepareCycle(this.#snapshot, podClass);
      const room = entries.reduce((sum, entry) => sum + (passes(cycle, entry) ? roomFor(podClass, entry) : 0), 0);
      // Twice as many as there is room for, so that no room stays unused if one of the pods is deleted meanwhile.
      if (room > 0) this.#queue.release(podClass, 2 * room);
    }
    this.#relieved.clear();
    this.#podsMoved = false;
  }

  #listen(): (() => void)[] {
    const { informers } = this.#options;
    const snapshot = this.#snapshot;
    const { volumes } = snapshot;
    return [
      informers.nodes.addHandler({
        added: (node) => this.#setNode(node),
        updated: (node, old) => {
          if (!looksTheSame(node, old)) this.#setNode(node);
        },
        deleted: (node) => snapshot.removeNode(node.metadata.name ?? ''),
      }),
      informers.pods.addHandler({
        added: (pod) => this.#podAdded(pod),
        updated: (pod, old) => this.#podChanged(pod, old),
        deleted: (pod) => this.#podGone(keyText(keyOf(pod))),
      }),
      this.#follow(
        informers.namespaces,
        (object) => snapshot.setNamespace(object.metadata.name ?? '', object.metadata.labels ?? {}),
        (key) => snapshot.removeNamespace(key),
      ),
      this.#follow(
        informers.volumes,
        (object) => volumes.setVolume(object),
        (key) => volumes.removeVolume(key),
      ),
      this.#follow(
        informers.claims,
        (object) => volumes.setClaim(object),
        (key) => volumes.removeClaim(key),
      ),
      this.#follow(
        informers.storageClasses,
        (object) => volumes.setStorageClass(object),
        (key) => volumes.removeStorageClass(key),
      ),
    ];
  }

  /** Keeps objects of a kind in the snapshot; any change of them may help any pod. */
  #follow<T extends KubeObject>(
    informer: Informer<T>,
    set: (object: T) => void,
    remove: (key: string) => void,
  ): () => void {
    const changed = (object: T): void => {
      set(object);
      this.#relieve('');
    };
    const relevant = (object: T, old: T): boolean =>
      informer.kind.plural !== NAMESPACES.plural ||
      JSON.stringify(object.metadata.labels) !== JSON.stringify(old.metadata.labels);
    return informer.addHandler({
      added: changed,
      updated: (object, old) => relevant(object, old) && changed(object),
      deleted: (object) => remove(keyText(keyOf(object))),
    });
  }

  #setNode(node: Node): void {
    this.#snapshot.setNode(node);
    this.#relieve(node.metadata.name ?? '');
  }

  #podAdded(pod: Pod): void {
    const key = keyText(keyOf(pod));
    if (isOver(pod)) {
      this.#podGone(key);
    } else if (pod.spec.nodeName) {
      this.#queue.remove(key);
      this.#snapshot.place(pod, pod.spec.nodeName);
      this.#podsMoved = true;
      this.#rouse();
    } else if (pod.spec.schedulerName === this.#name && pod.metadata.deletionTimestamp === undefined) {
      if (pod.spec.schedulingGates?.length) this.#background(this.#sayGated(pod));
      else if (!this.#assumed.has(key)) this.#queue.add(pod);
    }
  }

  #podChanged(pod: Pod, old: Pod): void {
    if (isOver(pod) || pod.spec.nodeName || pod.spec.schedulingGates?.length) this.#podAdded(pod);
    else if (pod.metadata.deletionTimestamp !== undefined) this.#queue.remove(keyText(keyOf(pod)));
    // A change that does not affect scheduling, such as a new condition, is no reason to retry.
    else if (!old.spec.schedulingGates?.length && podClassKey(pod) === podClassKey(old)) this.#queue.refresh(pod);
    else this.#podAdded(pod);
  }

  #podGone(key: string): void {
    this.#queue.remove(key);
    this.#removePod(key);
  }

  #removePod(key: string): void {
    const placed = this.#snapshot.placed(key);
    if (placed === undefined) return;
    this.#snapshot.removePod(key);
    this.#podsMoved = true;
    this.#relieve(placed.entry.name);
  }

  async #sayGated(pod: Pod): Promise<void> {
    const message = 'Scheduling is blocked due to non-empty scheduling gates';
    const now = toTimestamp(this.#options.clock.now());
    const change = (newest: Pod) =>
      newest.spec.schedulingGates?.length ? notScheduled(newest, 'SchedulingGated', message, now) : undefined;
    await patchNewest(this.#options.client, PODS, pod, change, { subresource: 'status' });
  }

  /** Records that a node may have room now; with an empty name, any node. */
  #relieve(nodeName: string): void {
    this.#relieved.add(nodeName);
    this.#rouse();
  }

  #rouse(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }

  #background(work: Promise<void>): void {
    work.catch((error) => {
      if (!hasCode(error, 'KUBE_NOT_FOUND', 'KUBE_CONFLICT'))
        this.#logger.warn('scheduler could not write', { error: asError(error) });
    });
  }
}

/** A finished pod uses no resources of its node. */
function isOver(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
}

/** Whether a node changed only in ways that the scheduler ignores, such as a heartbeat. */
function looksTheSame(a: Node, b: Node): boolean {
  const view = ({ metadata, spec, status }: Node): unknown => [
    metadata.labels,
    spec?.taints,
    spec?.unschedulable,
    status?.allocatable ?? status?.capacity,
  ];
  return JSON.stringify(view(a)) === JSON.stringify(view(b));
}
