/** One enabled cloud. Opening it is retried with backoff until it works, and never delays the other clouds. */
import { conditionOf } from '../apis/karpenter/conditions.ts';
import type { Clock } from '../platform/clock.ts';
import { asError, SpindriftError } from '../platform/errors.ts';
import type { Logger } from '../platform/logger.ts';
import type { Cloud, NoticeSource } from './cloud.ts';
import type { CloudInformers, CloudWorld, LoadedCloud } from './cloud-module.ts';
import { Market } from './market.ts';
import type { NodeClass } from './node-class-kind.ts';
import { NodeConditionSource } from './node-conditions/node-condition-source.ts';
import type { NamedConditions } from './node-conditions/notices-of-node.ts';
import { Reservations } from './reservations.ts';
import type { UnavailableOfferings } from './unavailable-offerings.ts';

/** An open cloud, with the parts that are shared above its driver. */
export interface OpenCloud {
  readonly cloud: Cloud;
  readonly market: Market;
  /** The driver's own, and the conditions of Nodes. */
  readonly noticeSources: readonly NoticeSource[];
}

export interface EnabledCloudOptions {
  readonly loaded: LoadedCloud;
  readonly world: CloudWorld;
  readonly unavailable: UnavailableOfferings;
  /** Node conditions that mean an interruption, besides the built-in ones. */
  readonly dangerousConditions?: NamedConditions;
}

/** Whether machines can be launched from a node class, with the reason and message of a condition. */
export interface NodeClassReadiness {
  readonly ready: boolean;
  /** In CamelCase. */
  readonly reason: string;
  /** Says what to change. Empty when the node class is ready. */
  readonly message: string;
}

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 60_000;

export class EnabledCloud {
  readonly loaded: LoadedCloud;
  readonly #options: EnabledCloudOptions;
  readonly #waiters = new Set<(open: OpenCloud) => void>();
  #open: OpenCloud | undefined;
  #problem: string;

  constructor(options: EnabledCloudOptions) {
    this.#options = options;
    this.loaded = options.loaded;
    const { kind } = options.loaded.nodeClass.resource;
    this.#problem = `it waits until the kind ${kind} is there: install its definition`;
  }

  get name(): string {
    return this.loaded.name;
  }

  /** Undefined until the cloud is open. */
  get open(): OpenCloud | undefined {
    return this.#open;
  }

  /** The open cloud. Throws CLOUD_NOT_OPEN with the problem otherwise. */
  opened(): OpenCloud {
    if (this.#open !== undefined) return this.#open;
    throw new SpindriftError('CLOUD_NOT_OPEN', { cloud: this.name, problem: this.#problem });
  }

  /** Opens the cloud. Resolves when it is open, rejects only when the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { world } = this.#options;
    const { nodeClasses, nodeClaims, nodePools, nodes } = world.informers;
    await Promise.all([nodeClasses, nodeClaims, nodePools, nodes].map((informer) => informer.synced(signal)));
    this.#problem = 'it is being opened';
    const { clock, logger } = world;
    const open = await untilOpen(() => this.loaded.open(world), {
      clock,
      logger,
      signal,
      failed: (problem) => {
        this.#problem = problem;
      },
      name: this.name,
    });
    this.#open = openCloud(open, this.#options);
    for (const wake of this.#waiters) wake(this.#open);
    this.#waiters.clear();
  }

  /** Calls back when the cloud is open, at once if it already is. Returns a function that stops it. */
  whenOpen(callback: (open: OpenCloud) => void): () => void {
    if (this.#open !== undefined) callback(this.#open);
    else this.#waiters.add(callback);
    return () => this.#waiters.delete(callback);
  }

  /** A node class by its name. */
  nodeClass(name: string): NodeClass | undefined {
    return this.#options.world.informers.nodeClasses.get(name);
  }

  /** Whether machines can be launched from a node class: its `Ready` condition, if that is about the current generation. */
  readiness(name: string): NodeClassReadiness {
    const { kind } = this.loaded.nodeClass.resource;
    if (this.#open === undefined) return no('CloudNotOpen', `the cloud ${this.name} cannot be used: ${this.#problem}`);
    const nodeClass = this.nodeClass(name);
    if (nodeClass === undefined) return no('NodeClassNotFound', `there is no ${kind} ${name}: create it`);
    if (nodeClass.metadata.deletionTimestamp !== undefined)
      return no('NodeClassTerminating', `${kind} ${name} is being deleted`);
    const root = conditionOf(nodeClass, this.loaded.nodeClass.conditions.root);
    if (root === undefined || root.observedGeneration !== (nodeClass.metadata.generation ?? 0))
      return no('NodeClassNotReconciled', `${kind} ${name} has changed and was not checked since`);
    if (root.status === 'True') return { ready: true, reason: 'Ready', message: '' };
    return no(...firstProblem(nodeClass, `${kind} ${name} is not ready`));
  }

  /** The node class, if it is ready. Throws CLOUD_NODE_CLASS_NOT_READY otherwise. */
  readyNodeClass(name: string): NodeClass {
    this.opened();
    const { ready, message: problem } = this.readiness(name);
    const nodeClass = this.nodeClass(name);
    if (!ready || nodeClass === undefined)
      throw new SpindriftError('CLOUD_NODE_CLASS_NOT_READY', { nodeClass: name, problem });
    return nodeClass;
  }

  get informers(): CloudInformers {
    return this.#options.world.informers;
  }
}

function openCloud(cloud: Cloud, options: EnabledCloudOptions): OpenCloud {
  const { world, unavailable, dangerousConditions: conditions = new Map() } = options;
  const { clock, informers } = world;
  const { nodes } = informers;
  const reservations = new Reservations({ clock, settleMs: cloud.settleMs });
  const said = new NodeConditionSource({ clock, nodes, conditions, machineKey: (id) => cloud.machineKey(id) });
  const market = new Market({ cloud, clock, unavailable, reservations });
  return { cloud, market, noticeSources: [...cloud.noticeSources, said] };
}

interface OpeningOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  failed(problem: string): void;
}

async function untilOpen(open: () => Promise<Cloud>, options: OpeningOptions): Promise<Cloud> {
  const { clock, logger, signal, failed, name } = options;
  let waitMs = FIRST_WAIT_MS;
  let told = '';
  for (;;) {
    signal.throwIfAborted();
    try {
      return await open();
    } catch (error) {
      const { message } = asError(error);
      failed(message);
      // A problem that lasts is logged once.
      if (message !== told)
        logger.error('cloud cannot be opened and is tried again', { cloud: name, problem: message });
      told = message;
    }
    await clock.sleep(waitMs, signal);
    waitMs = Math.min(LONGEST_WAIT_MS, waitMs * 2);
  }
}

/** Reason and message of the first condition that is false. */
function firstProblem({ status }: NodeClass, otherwise: string): [reason: string, message: string] {
  const conditions = status?.conditions ?? [];
  const { reason, message } = conditions.find((each) => each.status === 'False' && each.message) ?? {};
  return [reason ?? 'NodeClassNotReady', message ?? otherwise];
}

function no(reason: string, message: string): NodeClassReadiness {
  return { ready: false, reason, message };
}
