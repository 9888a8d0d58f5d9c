/**
 * Carries disruptions out, many at once: what comes is asked for, what goes is marked, and when all that comes is up, what
 * goes is deleted. From the moment the first mark is written the cluster itself knows all of it, and a process that starts
 * anew goes on where the former one ended.
 */
import { LABEL_NODE_POOL } from '../../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import { ANNOTATION_DISRUPTION, ANNOTATION_REPLACES } from '../../../apis/spindrift/annotations.ts';
import { type RepairPolicy, usableRepairPolicies } from '../../../cloud/repair-policy.ts';
import type { ReconcileContext, ReconcileResult } from '../../../kube/controller.ts';
import type { EpochMs } from '../../../platform/clock.ts';
import { asError, hasCode } from '../../../platform/errors.ts';
import type { ComingNodes } from '../../../state/coming-nodes.ts';
import { isClaimGoing } from '../../../state/state-node.ts';
import type { Successors } from '../../../state/successors.ts';
import type { ControllersOptions } from '../../controllers-options.ts';
import { InformedController } from '../../informed-controller.ts';
import { deleteClaim } from '../../nodeclaim/delete-claim.ts';
import { ClaimWriter } from '../../write-claim.ts';
import type { BackOff } from '../back-off.ts';
import { disruptionLaunching, disruptionUndone, disruptionWaitingReadiness } from '../events.ts';
import { DisruptionMetrics } from '../metrics.ts';
import { recovery } from '../repair/recovery.ts';
import { supplyKey } from '../supply.ts';
import { type ClaimRepair, type Command, type CommandReason, decisionOf } from './command.ts';
import { decideCommand } from './decide-command.ts';
import { Departures } from './departures.ts';
import { type Mark, readMark, writeMark } from './mark.ts';
import { Marks } from './marks.ts';

export interface CommandsOptions extends ControllersOptions {
  /** Whose claims did not come up. */
  readonly backOff: BackOff;
  readonly coming: ComingNodes;
  readonly successors: Successors;
}

/** A command whose marks are not all written yet. */
interface Starting {
  readonly command: Command;
  readonly at: EpochMs;
  /** The mark, once all claims it needs are written. */
  mark?: Mark;
  readonly ended: () => void;
}

/** A command that the cluster knows. */
interface UnderWay {
  readonly mark: Mark;
  /** Names of the claims that carry the mark, or carried it. */
  readonly names: Set<string>;
  /** UIDs of those that were told to go, which the cache may not show yet. */
  readonly deleted: Set<string>;
}

const LOOK_AGAIN_MS = 10_000;
const SHORTEST_LIMIT_MS = 10 * 60_000;
const LONGEST_LIMIT_MS = 60 * 60_000;
/** The more is asked of a cloud at once, the longer each may take. */
const LIMIT_PER_COMMAND_MS = 80;

export class Commands {
  readonly name = 'disruption.queue';
  readonly #options: CommandsOptions;
  readonly #controller: InformedController;
  readonly #marks: Marks;
  readonly #writer: ClaimWriter;
  readonly #metrics: DisruptionMetrics;
  readonly #departures: Departures;
  readonly #policies: readonly RepairPolicy[];
  readonly #starting = new Map<string, Starting>();
  /** The marks that claims are about to get, by UID. */
  readonly #taken = new Map<string, string>();
  readonly #underWay = new Map<string, UnderWay>();

  constructor(options: CommandsOptions) {
    const { client, coming, state, metrics } = options;
    this.#options = options;
    this.#marks = new Marks(options);
    this.#writer = new ClaimWriter({ client, coming, state, metrics });
    this.#metrics = new DisruptionMetrics(metrics);
    this.#departures = new Departures(options);
    this.#policies = usableRepairPolicies(options.provider.repairPolicies());
    this.#controller = new InformedController(options, {
      name: this.name,
      concurrency: 50,
      backOff: { baseDelayMs: 100, maxDelayMs: 10_000 },
      listen: (queue) => {
        const heard = (claim: NodeClaim): void => {
          const id = this.#learn(claim) ?? claim.metadata.annotations?.[ANNOTATION_REPLACES];
          if (id !== undefined) queue.add(id);
        };
        return [state.informers.nodeClaims.addHandler({ added: heard, updated: heard, deleted: heard })];
      },
      reconcile: (id, context) => this.#reconcile(id, context),
    });
  }

  /** Runs until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#controller.run(signal);
  }

  /** Begins a command; resolves when its claims and marks are written, or when it was given up before. */
  begin(command: Command): Promise<void> {
    const { id, reason, candidates } = command;
    const at = this.#options.clock.now();
    const text = writeMark({ id, reason, at, needs: [] });
    this.#metrics.began(command);
    for (const { claim } of candidates) this.#taken.set(claim.metadata.uid ?? '', text);
    return new Promise((resolve) => {
      this.#starting.set(id, { command, at, ended: resolve });
      this.#controller.queue.add(id);
    });
  }

  /** Some commands have begun, and the cluster does not show all of them yet. */
  get isStarting(): boolean {
    return this.#starting.size > 0;
  }

  /** The mark of a claim that a command takes, whether or not the cache shows it. */
  markOf(claim: NodeClaim): string | undefined {
    const written = this.#options.writes.newest(claim).metadata.annotations?.[ANNOTATION_DISRUPTION];
    return written ?? this.#taken.get(claim.metadata.uid ?? '');
  }

  async #reconcile(id: string, context: ReconcileContext): Promise<ReconcileResult | undefined> {
    const starting = this.#starting.get(id);
    if (starting !== undefined && !(await this.#start(starting, context))) return undefined;
    const known = this.#underWay.get(id);
    if (known === undefined) return undefined;
    const { mark } = known;
    const claims = this.#claimsOf(known);
    if (claims.length === 0) {
      this.#over(mark);
      return undefined;
    }
    const { clock, recorder } = this.#options;
    const commands = this.#underWay.size + this.#starting.size;
    const step = decideCommand({
      mark,
      claims,
      claimNamed: (name) => this.#claimNamed(name),
      isUsed: (claim) => this.#departures.podsOf(claim).length > 0,
      // One that was told to go stays told, whatever becomes of its node.
      recovery: (claim) => (known.deleted.has(claim.metadata.uid ?? '') ? undefined : this.#recovery(claim)),
      now: clock.now(),
      limitMs: Math.min(LONGEST_LIMIT_MS, Math.max(SHORTEST_LIMIT_MS, commands * LIMIT_PER_COMMAND_MS)),
    });
    switch (step.kind) {
      case 'over':
        return undefined;
      case 'wait':
        for (const claim of step.needed) recorder.record(disruptionWaitingReadiness(claim));
        return { requeueAfterMs: Math.min(step.forMs, LOOK_AGAIN_MS) };
      case 'undo':
        await this.#undo(mark, claims, step.why, context.signal);
        this.#fail(mark.reason, step.failed);
        return undefined;
      case 'delete':
        await this.#delete(known, claims, context.signal);
        for (const { pool } of mark.needs) this.#options.backOff.succeeded(supplyKey(pool, mark.reason));
        return { requeueAfterMs: LOOK_AGAIN_MS };
    }
  }

  /** Tells whether the command is there: one that cannot be begun whole is not begun at all. */
  async #start(starting: Starting, { signal, logger }: ReconcileContext): Promise<boolean> {
    const { command } = starting;
    if (starting.mark === undefined) {
      const others = command.needs.map((name) => this.#claimNamed(name));
      if (!others.every(isThereToStay)) {
        logger.info('disruption not begun: a claim that it needs is gone or going', { needs: command.needs });
        this.#ended(starting);
        this.#metrics.undone(decisionOf(command), command.reason);
        return false;
      }
      const written = await Promise.allSettled(command.newNodes.map((wanted) => this.#write(command, wanted, signal)));
      const claims = written.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
      const trouble = written.find((result) => result.status === 'rejected');
      if (trouble !== undefined) {
        logger.error('disruption not begun: a replacement cannot be written', { error: asError(trouble.reason) });
        this.#ended(starting);
        this.#metrics.undone(decisionOf(command), command.reason);
        this.#fail(
          command.reason,
          command.newNodes.map(({ node }) => node.pool),
        );
        for (const { metadata } of claims) this.#options.successors.forget(metadata.name ?? '');
        await Promise.all(claims.map((claim) => deleteClaim(this.#options.client, claim, signal)));
        return false;
      }
      const needs = [...claims, ...others].map(({ metadata }) => ({
        pool: metadata.labels?.[LABEL_NODE_POOL] ?? '',
        name: metadata.name ?? '',
      }));
      const { id, reason } = command;
      starting.mark = { id, reason, at: starting.at, needs };
      logger.info('disruption begins', {
        reason,
        nodeClaims: command.candidates.map(({ claim }) => claim.metadata.name),
        replacements: claims.map(({ metadata }) => metadata.name),
      });
    }
    const { mark } = starting;
    const names = new Set(command.candidates.map(({ claim }) => claim.metadata.name ?? ''));
    this.#underWay.set(mark.id, { mark, names, deleted: new Set() });
    const marking = [...names].map(async (name) => {
      const claim = this.#claimNamed(name);
      if (claim !== undefined && claim.metadata.deletionTimestamp === undefined)
        await this.#marks.put(claim, withRepair(mark, command.repairs?.[name]), signal);
    });
    for (const result of await Promise.allSettled(marking)) {
      // A claim or node that has gone meanwhile needs no mark.
      if (result.status === 'rejected' && !hasCode(result.reason, 'KUBE_NOT_FOUND')) throw result.reason;
    }
    this.#ended(starting);
    return true;
  }

  async #write(
    { id, reason }: Command,
    { node, pool, cloudName, pods }: Command['newNodes'][number],
    signal: AbortSignal,
  ): Promise<NodeClaim> {
    const annotations = { [ANNOTATION_REPLACES]: id };
    const wanted = { node, pool, cloudName, reason: reason.toLowerCase(), annotations };
    const claim = await this.#writer.write(wanted, signal);
    // At once: its machine may have joined before the other claims are written.
    this.#options.successors.expect(claim.metadata.name ?? '', pods);
    this.#options.recorder.record(disruptionLaunching(claim, reason));
    return claim;
  }

  #ended({ command, ended }: Starting): void {
    this.#starting.delete(command.id);
    for (const { claim } of command.candidates) this.#taken.delete(claim.metadata.uid ?? '');
    ended();
  }

  async #undo(mark: Mark, claims: readonly NodeClaim[], why: string, signal: AbortSignal): Promise<void> {
    const { recorder, logger } = this.#options;
    const staying = claims.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    await Promise.all(staying.map((claim) => this.#marks.remove(claim, signal)));
    for (const claim of staying) {
      recorder.record(disruptionUndone(claim, why));
      for (const node of this.#departures.nodesOf(claim)) recorder.record(disruptionUndone(node, why));
    }
    logger.warn('disruption undone', { command: mark.id, reason: mark.reason, why });
    this.#metrics.undone(mark.needs.length === 0 ? 'delete' : 'replace', mark.reason);
    this.#over(mark);
  }

  /** Nobody leaves any more to where the command made room, unless others need the same nodes. */
  #over({ id, needs }: Mark): void {
    this.#underWay.delete(id);
    if (needs.length === 0) return;
    const stillNeeded = new Set([...this.#underWay.values()].flatMap(({ mark }) => mark.needs.map(({ name }) => name)));
    for (const { name } of needs) if (!stillNeeded.has(name)) this.#options.successors.forget(name);
  }

  async #delete({ mark, deleted }: UnderWay, claims: readonly NodeClaim[], signal: AbortSignal): Promise<void> {
    const staying = claims.filter(
      ({ metadata }) => metadata.deletionTimestamp === undefined && !deleted.has(metadata.uid ?? ''),
    );
    await Promise.all(
      staying.map(async (claim) => {
        await this.#departures.begin(claim, mark.reason, signal);
        deleted.add(claim.metadata.uid ?? '');
      }),
    );
  }

  #recovery(claim: NodeClaim): string | undefined {
    const [node] = this.#departures.nodesOf(claim);
    return recovery({ claim, ...(node && { node }) }, this.#policies, this.#options.clock.now());
  }

  #fail(reason: CommandReason, pools: readonly string[]): void {
    for (const pool of new Set(pools)) this.#options.backOff.failed(supplyKey(pool, reason));
  }

  /** Takes note of a claim's mark; gives the command's identity. */
  #learn({ metadata }: NodeClaim): string | undefined {
    const mark = readMark(metadata.annotations?.[ANNOTATION_DISRUPTION]);
    if (mark === undefined) return undefined;
    const known = this.#underWay.get(mark.id) ?? { mark, names: new Set(), deleted: new Set() };
    known.names.add(metadata.name ?? '');
    this.#underWay.set(mark.id, known);
    return mark.id;
  }

  /** The claims that are there and carry the mark of the command. */
  #claimsOf({ mark, names }: UnderWay): NodeClaim[] {
    return [...names].flatMap((name) => {
      const claim = this.#claimNamed(name);
      const marked = readMark(claim?.metadata.annotations?.[ANNOTATION_DISRUPTION])?.id === mark.id;
      return claim !== undefined && marked ? [claim] : [];
    });
  }

  #claimNamed(name: string): NodeClaim | undefined {
    const { state, writes } = this.#options;
    return writes.newest(state.claimNamed(name));
  }
}

function isThereToStay(claim: NodeClaim | undefined): claim is NodeClaim {
  return claim !== undefined && !isClaimGoing(claim);
}

function withRepair(mark: Mark, repair: ClaimRepair | undefined): Mark {
  return repair === undefined ? mark : { ...mark, repair };
}
