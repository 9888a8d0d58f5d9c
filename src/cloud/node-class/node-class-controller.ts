/**
 * Keeps the node classes of one cloud: their status as the cloud resolves it, the hash of what counts for drift on them and on
 * their claims, and a finalizer while claims refer to them. Every cloud uses it; what is its own is in `resolve` and `cleanUp`.
 */
import { withConditions } from '../../apis/karpenter/condition-changes.ts';
import type { ConditionChange } from '../../apis/karpenter/conditions.ts';
import { NODE_CLAIMS, type NodeClaim } from '../../apis/karpenter/node-claim.ts';
import { keyOf } from '../../apis/kubernetes/object.ts';
import { Controller, type ReconcileContext, type ReconcileResult } from '../../kube/controller.ts';
import { enqueueOn } from '../../kube/enqueue.ts';
import type { Informer } from '../../kube/informer.ts';
import type { CloudController } from '../cloud.ts';
import type { CloudWorld } from '../cloud-module.ts';
import type { NodeClass, NodeClassKind } from '../node-class-kind.ts';
import { hashOfNodeClass, staleClaims } from './decide-class-hash.ts';
import { waitingForClaims } from './events.ts';

/** The result of resolving a node class. */
export interface NodeClassResolution {
  readonly conditions: readonly ConditionChange[];
  /** The fields of the status that the cloud owns, besides conditions; one that is undefined is removed. */
  readonly status?: Readonly<Record<string, unknown>>;
  /** When to look again, where that is sooner than usual. */
  readonly againMs?: number;
}

export interface NodeClassControllerOptions<T extends NodeClass> {
  /** Dotted lower case: `aws.nodeclass`. */
  readonly name: string;
  readonly kind: NodeClassKind<T>;
  readonly world: CloudWorld;
  /** How often a node class is resolved again where nothing of it has changed. */
  readonly periodMs?: number;
  /** Finds out what a node class stands for. Trouble that a person should see is a condition; anything else is thrown, and tried again. */
  resolve(nodeClass: T, signal: AbortSignal): Promise<NodeClassResolution>;
  /** Removes what was made for a node class that goes, once no claim refers to it. */
  cleanUp?(nodeClass: T, signal: AbortSignal): Promise<void>;
  /** A node class is gone. */
  forget?(name: string): void;
}

const PERIOD_MS = 5 * 60_000;
const CLAIMS_MS = 10_000;

export class NodeClassController<T extends NodeClass> implements CloudController {
  readonly name: string;
  readonly #options: NodeClassControllerOptions<T>;
  readonly #controller: Controller;

  constructor(options: NodeClassControllerOptions<T>) {
    const { clock, logger, metrics } = options.world;
    this.name = options.name;
    this.#options = options;
    this.#controller = new Controller({
      ...{ name: options.name, clock, logger, metrics },
      reconcile: (name, context) => this.#reconcile(name, context),
    });
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { queue } = this.#controller;
    const { nodeClaims } = this.#options.world.informers;
    const stops = [
      enqueueOn(this.#nodeClasses, queue),
      nodeClaims.addHandler({
        deleted: ({ spec }) => {
          if (this.#isOfKind(spec.nodeClassRef)) queue.add(spec.nodeClassRef.name);
        },
      }),
    ];
    try {
      await this.#controller.run(signal);
    } finally {
      for (const stop of stops) stop();
    }
  }

  get #nodeClasses(): Informer<T> {
    return this.#options.world.informers.nodeClasses as unknown as Informer<T>;
  }

  async #reconcile(name: string, { signal }: ReconcileContext): Promise<ReconcileResult | undefined> {
    const { forget, resolve, periodMs = PERIOD_MS } = this.#options;
    const known = this.#nodeClasses.get(name);
    if (known === undefined) {
      forget?.(name);
      return undefined;
    }
    if (known.metadata.deletionTimestamp !== undefined) return this.#end(known, signal);
    const nodeClass = await this.#held(known, signal);
    await this.#stampClaims(nodeClass, signal);
    const resolution = await resolve(nodeClass, signal);
    await this.#write(nodeClass, resolution, signal);
    return { requeueAfterMs: resolution.againMs ?? periodMs };
  }

  /** The finalizer and the hash come before anything is made for the node class. */
  async #held(nodeClass: T, signal: AbortSignal): Promise<T> {
    const { kind, world } = this.#options;
    const { finalizers = [], annotations = {}, resourceVersion } = nodeClass.metadata;
    const wanted = hashOfNodeClass(kind, nodeClass);
    const hashed = Object.entries(wanted).every(([key, value]) => annotations[key] === value);
    const held = kind.finalizer === undefined || finalizers.includes(kind.finalizer);
    if (held && hashed) return nodeClass;
    const metadata = {
      resourceVersion,
      annotations: wanted,
      ...(held ? {} : { finalizers: [...finalizers, kind.finalizer] }),
    };
    return world.client.patch(kind.resource, keyOf(nodeClass), { type: 'merge', body: { metadata } }, { signal });
  }

  /** Claims whose hash was made in another way cannot be compared, and are given the one of now. */
  async #stampClaims(nodeClass: T, signal: AbortSignal): Promise<void> {
    const { kind, world } = this.#options;
    const stale = staleClaims(kind, nodeClass, this.#claimsOf(nodeClass));
    await Promise.all(
      stale.map(({ claim, annotations }) =>
        world.client.patch(
          NODE_CLAIMS,
          keyOf(claim),
          { type: 'merge', body: { metadata: { annotations } } },
          { signal },
        ),
      ),
    );
  }

  async #write(nodeClass: T, resolution: NodeClassResolution, signal: AbortSignal): Promise<void> {
    const { kind, world } = this.#options;
    const { client, clock } = world;
    const conditions = withConditions(kind.conditions, nodeClass, resolution.conditions, clock.now());
    const own = (nodeClass.status ?? {}) as Readonly<Record<string, unknown>>;
    const changed = Object.entries(resolution.status ?? {}).filter(([key, value]) => !isSame(own[key], value));
    if (conditions === nodeClass.status?.conditions && changed.length === 0) return;
    // A merge patch removes what is null.
    const status = Object.fromEntries(changed.map(([key, value]) => [key, value ?? null]));
    const { resourceVersion } = nodeClass.metadata;
    const body = { metadata: { resourceVersion }, status: { ...status, conditions } };
    await client.patch(kind.resource, keyOf(nodeClass), { type: 'merge', body }, { signal, subresource: 'status' });
  }

  async #end(nodeClass: T, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const { cleanUp, kind, world } = this.#options;
    const { finalizers = [], resourceVersion } = nodeClass.metadata;
    if (kind.finalizer === undefined || !finalizers.includes(kind.finalizer)) return undefined;
    const claims = this.#claimsOf(nodeClass);
    if (claims.length > 0) {
      world.recorder.record(waitingForClaims(nodeClass, claims));
      return { requeueAfterMs: CLAIMS_MS };
    }
    await cleanUp?.(nodeClass, signal);
    const metadata = { resourceVersion, finalizers: finalizers.filter((each) => each !== kind.finalizer) };
    await world.client.patch(kind.resource, keyOf(nodeClass), { type: 'merge', body: { metadata } }, { signal });
    return undefined;
  }

  #claimsOf({ metadata }: T): NodeClaim[] {
    return this.#options.world.informers.nodeClaims
      .list()
      .filter(({ spec }) => this.#isOfKind(spec.nodeClassRef) && spec.nodeClassRef.name === metadata.name);
  }

  #isOfKind({ group, kind }: NodeClaim['spec']['nodeClassRef']): boolean {
    const { resource } = this.#options.kind;
    return group === resource.group && kind === resource.kind;
  }
}

/** As they would be written. */
function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
