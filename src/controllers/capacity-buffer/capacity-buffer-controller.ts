/**
 * Resolves the pod template of each CapacityBuffer, hands its virtual pods to provisioning, and reports on the buffer how much of its
 * room exists. Referenced objects are polled every few seconds: there are few, and watching all workloads of a cluster costs far more.
 */
import { isDeepStrictEqual } from 'node:util';
import {
  CAPACITY_BUFFERS,
  type CapacityBuffer,
  type CapacityBufferStatus,
  READY_FOR_PROVISIONING,
} from '../../apis/autoscaling/capacity-buffer.ts';
import { ACTIVE_CAPACITY } from '../../apis/autoscaling/capacity-buffer-schema.ts';
import { isTrue } from '../../apis/karpenter/conditions.ts';
import { admittedSpec } from '../../apis/kubernetes/limit-range.ts';
import { keyOf, keyText, parseKey } from '../../apis/kubernetes/object.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import type { PodTemplateSpec } from '../../apis/kubernetes/workloads.ts';
import { ANNOTATION_HEADROOM } from '../../apis/spindrift/annotations.ts';
import type { ReconcileContext, ReconcileResult } from '../../kube/controller.ts';
import type { GaugeMetric } from '../../platform/metrics.ts';
import type { Headroom } from '../../state/headroom.ts';
import { writeHeadroomNote } from '../../state/headroom-note.ts';
import type { ControllersOptions } from '../controllers-options.ts';
import { InformedController } from '../informed-controller.ts';
import { priceOf, provisioningCondition, withChanges } from './buffer-condition.ts';
import { bufferSize } from './buffer-size.ts';
import { bufferNotProvisioned, bufferNotResolved } from './events.ts';
import { type ResolvedBuffer, resolveBuffer, type UnresolvedBuffer } from './resolve-buffer.ts';
import { roomKept } from './room-kept.ts';
import { virtualPod } from './virtual-pods.ts';

export interface CapacityBufferControllerOptions extends ControllersOptions {
  readonly headroom: Headroom;
}

const READ_AGAIN_MS = 5000;

/** The virtual pods of a buffer, and the template they were made from. */
interface Made {
  readonly from: string;
  readonly pods: readonly Pod[];
}

export class CapacityBufferController {
  readonly name = 'capacitybuffer';
  readonly #options: CapacityBufferControllerOptions;
  readonly #controller: InformedController;
  readonly #made = new Map<string, Made>();
  readonly #places: GaugeMetric<'namespace' | 'name' | 'state'>;
  readonly #price: GaugeMetric<'namespace' | 'name'>;

  constructor(options: CapacityBufferControllerOptions) {
    this.#options = options;
    const { metrics, state, headroom } = options;
    this.#places = metrics.gauge({
      name: 'spindrift_capacity_buffer_pods',
      help: 'Pods that a CapacityBuffer asks room for, per buffer and state of the room: up (initialized nodes), coming (starting nodes), missing',
      labels: ['namespace', 'name', 'state'],
    });
    this.#price = metrics.gauge({
      name: 'spindrift_capacity_buffer_price_usd_per_hour',
      help: 'Price of the room of a CapacityBuffer: its share of the price of its nodes, in USD per hour',
      labels: ['namespace', 'name'],
    });
    const { capacityBuffers, nodeClaims } = state.informers;
    this.#controller = new InformedController(options, {
      name: this.name,
      listen: (queue) => {
        const enqueue = (buffer: CapacityBuffer): void => queue.add(keyText(keyOf(buffer)));
        const enqueueAll = (): void => capacityBuffers.list().forEach(enqueue);
        return [
          capacityBuffers.addHandler({ added: enqueue, updated: enqueue, deleted: enqueue }),
          headroom.onPlaces(enqueueAll),
          nodeClaims.addHandler({
            updated: (claim, old) => {
              if (!headroom.isEmpty && isTrue(claim, 'Initialized') !== isTrue(old, 'Initialized')) enqueueAll();
            },
          }),
        ];
      },
      reconcile: (key, context) => this.#reconcile(key, context),
    });
  }

  /** Runs until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#controller.run(signal);
  }

  async #reconcile(key: string, { signal }: ReconcileContext): Promise<ReconcileResult | undefined> {
    const { client, state, recorder } = this.#options;
    const buffer = state.informers.capacityBuffers.get(parseKey(key));
    if (buffer === undefined || buffer.metadata.deletionTimestamp !== undefined) {
      this.#forget(key);
      return undefined;
    }
    // Another autoscaler provisions buffers of another strategy.
    if ((buffer.spec.provisioningStrategy ?? ACTIVE_CAPACITY) !== ACTIVE_CAPACITY) {
      this.#giveUp(key);
      return undefined;
    }
    const resolved = await resolveBuffer(buffer, client, signal);
    if ('reason' in resolved) {
      this.#giveUp(key);
      recorder.record(bufferNotResolved(buffer, resolved.reason, resolved.message));
      await this.#write(buffer, unresolvedStatus(buffer, resolved, this.#options.clock.now()), '', signal);
    } else {
      const { status, note } = this.#status(key, buffer, resolved);
      await this.#write(buffer, status, note, signal);
    }
    return { requeueAfterMs: READ_AGAIN_MS };
  }

  #forget(key: string): void {
    this.#giveUp(key);
    this.#options.headroom.delete(key);
  }

  /** Releases the room of a buffer that exists but gets none now. */
  #giveUp(key: string): void {
    this.#made.delete(key);
    this.#options.headroom.set(key, []);
    const { namespace = '', name = '' } = parseKey(key);
    for (const state of ['up', 'coming', 'missing']) this.#places.remove({ namespace, name, state });
    this.#price.remove({ namespace, name });
  }

  /** Hands the virtual pods to provisioning, and computes the status of the buffer. */
  #status(
    key: string,
    buffer: CapacityBuffer,
    resolved: ResolvedBuffer,
  ): { status: CapacityBufferStatus; note: string } {
    const { clock, clouds, headroom, recorder, state } = this.#options;
    const { namespace = '', name = '', generation = 0 } = buffer.metadata;
    const { template, podTemplate, scaled } = resolved;
    const ranges = state.informers.limitRanges.list().filter(({ metadata }) => metadata.namespace === namespace);
    const admitted = { ...template, spec: admittedSpec(template.spec, ranges) };
    const replicas = bufferSize(buffer.spec, admitted.spec, scaled);
    headroom.set(key, this.#pods(key, buffer, admitted, replicas));
    const places = headroom.placesOf(key);
    const kept = roomKept(replicas, places, state.nodes(), (labels) => clouds.reservationOf(labels));
    for (const [where, pods] of Object.entries({
      up: kept.up,
      coming: kept.coming,
      missing: replicas - kept.up - kept.coming,
    }))
      this.#places.set({ namespace, name, state: where }, pods);
    this.#price.set({ namespace, name }, priceOf(kept));
    if (places.unplaced.length > 0) recorder.record(bufferNotProvisioned(buffer, places.unplaced.length, places.why));
    const ready = {
      type: READY_FOR_PROVISIONING,
      status: 'True' as const,
      reason: 'Resolved',
      message: `The buffer asks for room for ${replicas} pods`,
    };
    const changes = [ready, provisioningCondition(kept)];
    const status = {
      conditions: withChanges(buffer.status?.conditions ?? [], changes, generation, clock.now()),
      ...(podTemplate && { podTemplateRef: { name: podTemplate.name }, podTemplateGeneration: podTemplate.generation }),
      provisioningStrategy: ACTIVE_CAPACITY,
      replicas,
    };
    return { status, note: writeHeadroomNote(kept.rooms) };
  }

  /** Reuses unchanged virtual pods, so that they keep their room. */
  #pods(key: string, buffer: CapacityBuffer, template: PodTemplateSpec, replicas: number): readonly Pod[] {
    const from = JSON.stringify([buffer.metadata.uid, template.metadata?.labels, template.spec]);
    const made = this.#made.get(key);
    const known = made?.from === from ? made.pods : [];
    const pods =
      known.length === replicas
        ? known
        : Array.from({ length: replicas }, (_, index) => known[index] ?? virtualPod(buffer, template, index + 1));
    this.#made.set(key, { from, pods });
    return pods;
  }

  async #write(buffer: CapacityBuffer, status: CapacityBufferStatus, note: string, signal: AbortSignal): Promise<void> {
    const { client } = this.#options;
    const key = keyOf(buffer);
    const { uid, resourceVersion, annotations } = buffer.metadata;
    let metadata = { uid, resourceVersion };
    if ((annotations?.[ANNOTATION_HEADROOM] ?? '') !== note) {
      const body = { metadata: { ...metadata, annotations: { [ANNOTATION_HEADROOM]: note === '' ? null : note } } };
      const patched = await client.patch(CAPACITY_BUFFERS, key, { type: 'merge', body }, { signal });
      metadata = { uid, resourceVersion: patched.metadata.resourceVersion };
    }
    if (isDeepStrictEqual(buffer.status ?? {}, status)) return;
    const nothing = { podTemplateRef: null, podTemplateGeneration: null, replicas: null };
    const body = { metadata, status: { ...nothing, ...status } };
    await client.patch(CAPACITY_BUFFERS, key, { type: 'merge', body }, { signal, subresource: 'status' });
  }
}

function unresolvedStatus(
  { metadata, status }: CapacityBuffer,
  { reason, message }: UnresolvedBuffer,
  now: Parameters<typeof withChanges>[3],
): CapacityBufferStatus {
  const changes = [
    { type: READY_FOR_PROVISIONING, status: 'False' as const, reason, message },
    {
      type: 'Provisioning',
      status: 'False' as const,
      reason: 'NotReadyForProvisioning',
      message: 'The pod template of the buffer is not available',
    },
  ];
  const conditions = withChanges(status?.conditions ?? [], changes, metadata.generation ?? 0, now);
  return { conditions, provisioningStrategy: ACTIVE_CAPACITY };
}
