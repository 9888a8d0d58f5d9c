/**
 * Carries disruptions out, many at once: what comes is asked for, what goes is marked, and when all that comes is up, what
 * goes is deleted. From the moment the first mark is written the cluster itself knows all of it, and a process that starts
 * anew goes on where the former one ended.
 */
import { LABEL_NODE_POOL } from '../../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import {
  ANNOTATION_DISRUPTION,
  ANNOTATION_INTERRUPTION,
  ANNOTATION_REPLACES,
} from '../../../apis/spindrift/annotations.ts';
import type { ReconcileContext, ReconcileResult } from '../../../kube/controller.ts';
import type { EpochMs } from '../../../platform/clock.ts';
import { asError } from '../../../platform/errors.ts';
import type { ComingNodes } from '../../../state/coming-nodes.ts';
import type { Nominations } from '../../../state/nominations.ts';
import { isClaimGoing } from '../../../state/state-node.ts';
import type { Successors } from '../../../state/successors.ts';
import type { ControllersOptions } from '../../controllers-options.ts';
import { InformedController } from '../../informed-controller.ts';
import type { BackOff } from '../back-off.ts';
import { disruptionUndone, disruptionWaitingReadiness } from '../events.ts';
import { DisruptionMetrics } from '../metrics.ts';
import { recovery } from '../repair/recovery.ts';
import { supplyKey } from '../supply.ts';
import { type Command, type CommandReason, decisionOf } from './command.ts';
import { decideCommand, type NextStep } from './decide-command.ts';
import { Departures } from './departures.ts';
import { FilledNodes } from './filled-nodes.ts';
import { type Mark, readMark, writeMark } from './mark.ts';
import { Marks } from './marks.ts';
import { Replacements } from './replacements.ts';
import { type StepFailure, StuckClaims } from './stuck-claims.ts';
import { type KnownCommand, UnderWay, type Undo } from './under-way.ts';

export interface CommandsOptions extends ControllersOptions {
  /** Hears of each claim that is written. */
  readonly written?: (claim: NodeClaim) => void;
  /** Whose claims did not come up. */
  readonly backOff: BackOff;
  readonly coming: ComingNodes;
  readonly successors: Successors;
  /** Which nodes are kept for the pods of those that go. */
  readonly nominations: Pick<Nominations, 'withdraw'>;
}

/** A command whose marks are not all written yet. */
interface Starting {
  readonly command: Command;
  readonly at: EpochMs;
  /** The mark, once all claims it needs are written. */
  mark?: Mark;
  readonly ended: () => void;
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
  readonly #replacements: Replacements;
  readonly #stuck: StuckClaims;
  readonly #metrics: DisruptionMetrics;
  readonly #departures: Departures;
  readonly #filled: FilledNodes;
  readonly #starting = new Map<string, Starting>();
  /** The marks that claims are about to get, by UID. */
  readonly #taken = new Map<string, string>();
  readonly #underWay: UnderWay;
  /** Identities of commands that came to nothing, whose claims are still to be deleted. */
  readonly #unwanted = new Set<string>();

  constructor(options: CommandsOptions) {
    const { state, metrics } = options;
    this.#options = options;
    this.#marks = new Marks(options);
    this.#replacements = new Replacements(options);
    this.#stuck = new StuckClaims(options);
    this.#metrics = new DisruptionMetrics(metrics);
    this.#departures = new Departures(options);
    this.#filled = new FilledNodes(options);
    this.#underWay = new UnderWay(options);
    this.#controller = new InformedController(options, {
      name: this.name,
      concurrency: 50,
      backOff: { baseDelayMs: 100, maxDelayMs: 10_000 },
      listen: (queue) => {
        const heard = (claim: NodeClaim): void => {
          const id = this.#underWay.learn(claim) ?? claim.metadata.annotations?.[ANNOTATION_REPLACES];
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

  /** Some commands have begun, and what they make is not written yet. What they take is told by `markOf` from the beginning. */
  get isStarting(): boolean {
    return [...this.#starting.values()].some(({ mark }) => mark === undefined);
  }

  /** Whether the claim or its node could not be marked a while ago: it is left alone until it may be tried again. */
  isStuck(claim: NodeClaim): boolean {
    return this.#stuck.has(claim);
  }

  /** The mark of a claim that a command takes, whether or not the cache shows it. */
  markOf(claim: NodeClaim): string | undefined {
    const written = this.#options.writes.newest(claim).metadata.annotations?.[ANNOTATION_DISRUPTION];
    return written ?? this.#taken.get(claim.metadata.uid ?? '');
  }

  async #reconcile(id: string, context: ReconcileContext): Promise<ReconcileResult | undefined> {
    const { signal } = context;
    const starting = this.#starting.get(id);
    if (starting !== undefined && starting.mark === undefined) await this.#ask(starting, context);
    if (this.#unwanted.has(id)) {
      await this.#replacements.discard(id, signal);
      this.#unwanted.delete(id);
    }
    const known = this.#underWay.get(id);
    if (known === undefined) return undefined;
    const { mark } = known;
    const step = known.undoing ?? (await this.#complete(known, signal)) ?? this.#next(known);
    switch (step.kind) {
      case 'over':
        if (this.#underWay.claimsOf(known).length === 0) this.#over(mark);
        return undefined;
      case 'wait':
        for (const claim of step.needed) this.#options.recorder.record(disruptionWaitingReadiness(claim));
        return { requeueAfterMs: Math.min(step.forMs, LOOK_AGAIN_MS) };
      case 'undo':
        await this.#undo(known, step, signal);
        return undefined;
      case 'delete': {
        if (known.deleted.size === 0) await this.#filled.close(known.fills ?? [], signal);
        const refused = await this.#delete(known, signal);
        if (refused !== undefined) {
          await this.#undo(known, refused, signal);
          return undefined;
        }
        for (const { pool } of mark.needs) this.#options.backOff.succeeded(supplyKey(pool, mark.reason));
        return { requeueAfterMs: LOOK_AGAIN_MS };
      }
    }
  }

  #next(known: KnownCommand): NextStep {
    const commands = this.#underWay.size + this.#starting.size;
    return decideCommand({
      mark: known.mark,
      claims: this.#underWay.claimsOf(known),
      claimNamed: (name) => this.#underWay.claimNamed(name),
      isUsed: (claim) => this.#departures.podsOf(claim).length > 0,
      // One that was told to go stays told, whatever becomes of its node.
      recovery: (claim) => (known.deleted.has(claim.metadata.uid ?? '') ? undefined : this.#recovery(claim)),
      now: this.#options.clock.now(),
      limitMs: Math.min(LONGEST_LIMIT_MS, Math.max(SHORTEST_LIMIT_MS, commands * LIMIT_PER_COMMAND_MS)),
    });
  }

  /** Asks for what comes; a command that cannot be begun whole is not begun at all. */
  async #ask(starting: Starting, { signal, logger }: ReconcileContext): Promise<void> {
    const { command } = starting;
    const { id, reason } = command;
    const others = command.needs.map((name) => this.#underWay.claimNamed(name));
    if (!others.every(isThereToStay)) {
      logger.info('disruption not begun: a claim that it needs is gone or going', { needs: command.needs });
      this.#notBegun(starting);
      return;
    }
    const { claims, trouble } = await this.#replacements.write(command, signal);
    if (trouble !== undefined) {
      logger.error('disruption not begun: a replacement cannot be written', { error: trouble });
      this.#notBegun(starting);
      this.#fail(
        reason,
        command.newNodes.map(({ node }) => node.pool),
      );
      this.#unwanted.add(id);
      return;
    }
    const needs = [...claims, ...others].map(({ metadata }) => ({
      pool: metadata.labels?.[LABEL_NODE_POOL] ?? '',
      name: metadata.name ?? '',
    }));
    const mark = { id, reason, at: starting.at, needs };
    starting.mark = mark;
    for (const { claim } of command.candidates) this.#taken.set(claim.metadata.uid ?? '', writeMark(mark));
    const names = command.candidates.map(({ claim }) => claim.metadata.name ?? '');
    this.#underWay.add(mark, names, command.fills);
    const replacements = claims.map(({ metadata }) => metadata.name);
    logger.info('disruption begins', { reason, nodeClaims: names, replacements });
  }

  /**
   * Writes what is missing of the marks, also for a process that ended in the middle of it: what is not marked whole is not told to
   * go. Where that cannot be done the command is undone, or those who plan would wait for it, or count with it, for ever.
   */
  async #complete(known: KnownCommand, signal: AbortSignal): Promise<Undo | undefined> {
    if (known.marked === true) return undefined;
    const { clock } = this.#options;
    const startedAt = clock.elapsed();
    const starting = this.#starting.get(known.mark.id);
    const marks = starting === undefined ? this.#ownMarks(known) : this.#marksOf(known, starting);
    const failures = await this.#marks.putAll(marks, signal);
    if (failures.length > 0) return this.#stuck.givenUp(known, 'marked', failures, startedAt);
    known.marked = true;
    if (starting !== undefined) this.#ended(starting);
    this.#stuck.succeeded(known, 'marked', marks.keys());
    return undefined;
  }

  /** The marks that a command begins with. */
  #marksOf(known: KnownCommand, { command }: Starting): ReadonlyMap<NodeClaim, Mark> {
    const { mark } = known;
    const claims = this.#underWay.named(known).filter(isNotDeleted);
    return new Map(
      claims.map((claim) => {
        const repair = command.repairs?.[claim.metadata.name ?? ''];
        return [claim, repair === undefined ? mark : { ...mark, repair }];
      }),
    );
  }

  /** The marks that the claims of a command carry. */
  #ownMarks(known: KnownCommand): ReadonlyMap<NodeClaim, Mark> {
    return new Map(
      this.#underWay
        .claimsOf(known)
        .filter(isNotDeleted)
        .map((claim) => [claim, readMark(claim.metadata.annotations?.[ANNOTATION_DISRUPTION]) ?? known.mark]),
    );
  }

  #ended({ command, ended }: Starting): void {
    this.#starting.delete(command.id);
    for (const { claim } of command.candidates) this.#taken.delete(claim.metadata.uid ?? '');
    ended();
  }

  #notBegun(starting: Starting): void {
    const { command } = starting;
    this.#ended(starting);
    // What was to be written for it takes nothing of the limits any more.
    for (const { node } of command.newNodes) this.#options.coming.settled(node);
    this.#options.nominations.withdraw(command.candidates.flatMap(({ pods }) => pods));
    this.#metrics.undone(decisionOf(command), command.reason);
  }

  async #undo(known: KnownCommand, step: Undo, signal: AbortSignal): Promise<void> {
    const { mark } = known;
    const starting = this.#starting.get(mark.id);
    if (starting !== undefined) this.#ended(starting);
    if (known.undoing === undefined) this.#tellUndone(known, step);
    known.undoing = step;
    this.#forgetSuccessors(mark);
    const staying = this.#staying(known);
    // Its claims before its marks: whoever comes after a crash in between sees that what the marks name is gone.
    const needed = known.deleted.size > 0 || this.#underWay.claimsOf(known).length > staying.length;
    const discarded = await Promise.allSettled(needed ? [] : [this.#replacements.discard(mark.id, signal)]);
    const removed = await Promise.allSettled(staying.map((claim) => this.#marks.remove(claim, signal)));
    for (const result of [...discarded, ...removed]) if (result.status === 'rejected') throw result.reason;
    this.#over(mark);
  }

  #tellUndone(known: KnownCommand, { why, failed }: Undo): void {
    const { recorder, logger, nominations } = this.#options;
    const { mark } = known;
    for (const claim of this.#underWay.named(known).filter((named) => isStaying(known, named))) {
      // The pods of a machine that its cloud takes away leave all the same.
      if (claim.metadata.annotations?.[ANNOTATION_INTERRUPTION] === undefined)
        nominations.withdraw(this.#departures.podsOf(claim));
      recorder.record(disruptionUndone(claim, why));
      for (const node of this.#departures.nodesOf(claim)) recorder.record(disruptionUndone(node, why));
    }
    logger.warn('disruption undone', { command: mark.id, reason: mark.reason, why });
    this.#metrics.undone(mark.needs.length === 0 ? 'delete' : 'replace', mark.reason);
    this.#fail(mark.reason, failed);
  }

  #over(mark: Mark): void {
    this.#underWay.delete(mark.id);
    this.#forgetSuccessors(mark);
  }

  /** Nobody leaves any more to where the command made room, unless others need the same nodes. */
  #forgetSuccessors(mark: Mark): void {
    for (const name of this.#underWay.neededOnlyBy(mark)) this.#options.successors.forget(name);
  }

  /** Tells all to go; gives how the command is undone for those that cannot be told. */
  async #delete(known: KnownCommand, signal: AbortSignal): Promise<Undo | undefined> {
    const startedAt = this.#options.clock.elapsed();
    const failures: StepFailure[] = [];
    const staying = this.#staying(known);
    await Promise.all(
      staying.map(async (claim) => {
        try {
          await this.#departures.begin(claim, known.mark.reason, signal);
          known.deleted.add(claim.metadata.uid ?? '');
        } catch (error) {
          signal.throwIfAborted();
          failures.push({ claim, error: asError(error) });
        }
      }),
    );
    if (failures.length > 0) return this.#stuck.givenUp(known, 'deleted', failures, startedAt);
    this.#stuck.succeeded(known, 'deleted', staying);
    return undefined;
  }

  #staying(known: KnownCommand): NodeClaim[] {
    return this.#underWay.claimsOf(known).filter((claim) => isStaying(known, claim));
  }

  #recovery(claim: NodeClaim): string | undefined {
    const [node] = this.#departures.nodesOf(claim);
    const { clock, clouds } = this.#options;
    return recovery({ claim, ...(node && { node }) }, (sick) => clouds.repairPolicies(sick), clock.now());
  }

  #fail(reason: CommandReason, pools: readonly string[]): void {
    for (const pool of new Set(pools)) this.#options.backOff.failed(supplyKey(pool, reason));
  }
}

function isThereToStay(claim: NodeClaim | undefined): claim is NodeClaim {
  return claim !== undefined && !isClaimGoing(claim);
}

function isNotDeleted({ metadata }: NodeClaim): boolean {
  return metadata.deletionTimestamp === undefined;
}

/** Whether it has not been told to go: the cache may not show yet that it has. */
function isStaying({ deleted }: KnownCommand, claim: NodeClaim): boolean {
  return isNotDeleted(claim) && !deleted.has(claim.metadata.uid ?? '');
}
