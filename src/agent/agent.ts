/**
 * Runs on each node: listens for interruption notices of its machine, writes them on the Node, and drains the node itself when
 * no controller answers. No failure ends it.
 */
import { TAINT_DISRUPTED } from '../apis/karpenter/labels.ts';
import { NODES, type Node } from '../apis/kubernetes/node.ts';
import {
  CONDITION_INTERRUPTION,
  interruptionCondition,
  noInterruptionCondition,
  type StatedInterruption,
  TAINT_INTERRUPTION,
} from '../apis/spindrift/interruption-condition.ts';
import type { KubeClient } from '../kube/client.ts';
import type { EventRecorder } from '../kube/event-recorder.ts';
import { Informer } from '../kube/informer.ts';
import type { Clock } from '../platform/clock.ts';
import { asError } from '../platform/errors.ts';
import type { Logger } from '../platform/logger.ts';
import type { Random } from '../platform/random.ts';
import { decideCondition, decideStatement, mustLeave } from './decide-statement.ts';
import { drainingAlone, interruptionHeard, leftToController } from './events.ts';
import { KubeletSource } from './kubelet-source.ts';
import { NodeDrain } from './node-drain.ts';
import type { NodeWarning, WarningSource } from './node-warning.ts';

export interface AgentOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly recorder: EventRecorder;
  readonly nodeName: string;
  readonly sources: readonly WarningSource[];
  /** Whether to taint the node on a notice. */
  readonly taint: boolean;
  /** The agent drains the node itself when no controller has answered for this long; undefined: never. */
  readonly drainAfterMs?: number;
  /** Time left when the kubelet reports a shutdown. */
  readonly shutdownNoticeMs: number;
}

/** The wait before a failed write is retried; doubles with each try. */
const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 5000;
/** How often the agent checks whether a controller has answered, and whether the condition is still on the Node. */
const LOOK_MS = 1000;
const ANSWER_MS = 5000;
const SHOWN_WITHIN_MS = 3000;
const FIELD_MANAGER = 'spindrift-agent';

export class Agent {
  readonly #options: AgentOptions;
  readonly #nodes: Informer<Node>;
  /** By source. */
  readonly #heard = new Map<string, readonly NodeWarning[]>();
  #stated: StatedInterruption | undefined;
  #statedAt = 0;
  #wasSaid = false;
  #written: { readonly saying: string; readonly at: number } | undefined;
  #wake: (() => void) | undefined;
  #drain: { readonly stop: AbortController; readonly done: Promise<void> } | undefined;
  #drained = false;

  constructor(options: AgentOptions) {
    this.#options = options;
    const { client, clock, random, logger, nodeName } = options;
    const selection = { fieldSelector: `metadata.name=${nodeName}` };
    this.#nodes = new Informer({ client, clock, random, logger, kind: NODES, selection, transform: slimNode });
    this.#nodes.addHandler({ added: () => this.#wake?.(), updated: () => this.#wake?.() });
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, shutdownNoticeMs: noticeMs, sources } = this.#options;
    const all = [...sources, new KubeletSource({ clock, nodes: this.#nodes, noticeMs })];
    const listening = all.map((source) =>
      source
        .run((warnings) => this.#hear(source.name, warnings), signal)
        .catch((error: unknown) => {
          this.#options.logger.error('an interruption source ended', { source: source.name, error: asError(error) });
        }),
    );
    await Promise.all([this.#nodes.run(signal), this.#act(signal), ...listening]);
    await this.#drain?.done;
  }

  #hear(source: string, warnings: readonly NodeWarning[]): void {
    this.#heard.set(source, warnings);
    const before = this.#stated;
    this.#stated = decideStatement(this.#heard);
    if (before === undefined) this.#statedAt = this.#options.clock.elapsed();
    if (this.#stated !== undefined)
      this.#options.logger.info('interruption notice for this machine', { ...this.#stated });
    this.#wake?.();
  }

  /** Keeps the Node in line with the notices. */
  async #act(signal: AbortSignal): Promise<void> {
    const { logger } = this.#options;
    let retryMs = FIRST_RETRY_MS;
    while (!signal.aborted) {
      let waitMs = LOOK_MS;
      try {
        const node = this.#nodes.list()[0];
        // The condition is written even when the Node cannot be read.
        await this.#say(node, signal);
        if (node !== undefined) this.#leave(node, signal);
        retryMs = FIRST_RETRY_MS;
      } catch (error) {
        if (signal.aborted) return;
        logger.warn('the notice could not be written on the Node, will retry', { retryMs, error: asError(error) });
        waitMs = retryMs;
        retryMs = Math.min(LONGEST_RETRY_MS, retryMs * 2);
      }
      await this.#woken(waitMs, signal);
    }
  }

  async #say(node: Node | undefined, signal: AbortSignal): Promise<void> {
    const { client, clock, nodeName, recorder, taint } = this.#options;
    const stated = this.#stated;
    const now = clock.now();
    const present = node?.status?.conditions?.find(({ type }) => type === CONDITION_INTERRUPTION);
    if (node === undefined && stated === undefined) return;
    const change = decideCondition(stated, present, this.#wasSaid, now);
    const saying = `${stated?.kind} ${stated?.deadline}`;
    // The cache shows our write a moment later.
    const isOnItsWay = this.#written?.saying === saying && clock.elapsed() < this.#written.at + SHOWN_WITHIN_MS;
    if (change !== 'none' && !isOnItsWay) {
      const condition = stated === undefined ? noInterruptionCondition(now) : interruptionCondition(stated, now);
      const body = { status: { conditions: [condition] } };
      const options = { subresource: 'status', fieldManager: FIELD_MANAGER, signal, timeoutMs: ANSWER_MS } as const;
      await client.patch(NODES, { name: nodeName }, { type: 'strategic', body }, options);
      this.#wasSaid = stated !== undefined;
      this.#written = { saying, at: clock.elapsed() };
      if (stated !== undefined && node !== undefined) recorder.record(interruptionHeard(node, stated));
    } else if (stated !== undefined) this.#wasSaid = true;
    if (taint && node !== undefined)
      await this.#taint(node, stated !== undefined && stated.kind !== 'rebalance', signal);
  }

  async #taint(node: Node, wanted: boolean, signal: AbortSignal): Promise<void> {
    const { client, nodeName } = this.#options;
    const taints = node.spec?.taints ?? [];
    const others = taints.filter(({ key }) => key !== TAINT_INTERRUPTION.key);
    if (wanted === others.length < taints.length) return;
    const { resourceVersion } = node.metadata;
    const spec = { taints: wanted ? [...others, TAINT_INTERRUPTION] : others };
    const body = { metadata: { resourceVersion }, spec };
    const options = { fieldManager: FIELD_MANAGER, signal, timeoutMs: ANSWER_MS };
    await client.patch(NODES, { name: nodeName }, { type: 'merge', body }, options);
  }

  /** Drains the node while pods must be evicted and no controller does it. */
  #leave(node: Node, signal: AbortSignal): void {
    const { clock, drainAfterMs, logger, recorder } = this.#options;
    const stated = this.#stated;
    const deadline = stated?.deadline;
    const isAnswered = hasAnswered(node);
    if (this.#drain !== undefined) {
      if (isAnswered) recorder.record(leftToController(node));
      if (isAnswered || stated === undefined) this.#drain.stop.abort();
      return;
    }
    if (drainAfterMs === undefined || stated === undefined || deadline === undefined || isAnswered || this.#drained)
      return;
    if (!mustLeave(stated, clock.now()) || clock.elapsed() < this.#statedAt + drainAfterMs) return;
    const stop = new AbortController();
    const ended = AbortSignal.any([signal, stop.signal]);
    recorder.record(drainingAlone(node, clock.elapsed() - this.#statedAt));
    logger.warn('no controller answers: draining the node', { node: node.metadata.name, ...stated });
    const drain = new NodeDrain(this.#options);
    const done = drain
      .run(node, deadline, ended)
      .then(
        () => {
          this.#drained = true;
        },
        (error: unknown) => {
          if (!ended.aborted) logger.warn('the drain failed, will retry', { error: asError(error) });
        },
      )
      .finally(() => {
        this.#drain = undefined;
      });
    this.#drain = { stop, done };
  }

  #woken(waitMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        timer.cancel();
        signal.removeEventListener('abort', end);
        this.#wake = undefined;
        resolve();
      };
      const timer = this.#options.clock.setTimer(waitMs, end);
      signal.addEventListener('abort', end, { once: true });
      this.#wake = end;
    });
  }
}

/** Whether a controller has started on the node: it taints the node first. */
function hasAnswered({ metadata, spec }: Node): boolean {
  return (
    metadata.deletionTimestamp !== undefined || (spec?.taints ?? []).some(({ key }) => key === TAINT_DISRUPTED.key)
  );
}

/** Drops images and capacities, which are most of a Node and never read here. */
function slimNode(node: Node): Node {
  const { name = '', uid = '', resourceVersion = '', deletionTimestamp } = node.metadata;
  return {
    apiVersion: node.apiVersion,
    kind: node.kind,
    metadata: { name, uid, resourceVersion, ...(deletionTimestamp !== undefined && { deletionTimestamp }) },
    ...(node.spec && { spec: node.spec }),
    status: { conditions: node.status?.conditions ?? [] },
  };
}
