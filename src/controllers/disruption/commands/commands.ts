/**
 * Carries out disruption commands, many at once: writes the replacement claims, marks the candidates, waits until all replacements are up,
 * and deletes the candidates. The marks hold the whole command, so after a restart the next process continues it.
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
import { poolBackOffKey } from '../pool-back-off-key.ts';
import { recovery } from '../repair/recovery.ts';
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
  /** Receives each claim that is written. */
  readonly written?: (claim: NodeClaim) => void;
  /** Remembers pools whose replacements did not come up, and claims that could not be written. */
  readonly backOff: BackOff;
  readonly coming: ComingNodes;
  readonly successors: Successors;
  /** Room reserved for displaced pods. */
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
/** Launches take longer while many commands are in progress. */
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
  /** Marks that are about to be written, by the UID of the claim. */
  readonly #taken = new Map<string, string>();
  readonly #underWay: UnderWay;
  /** IDs of failed commands whose replacement claims are not deleted yet. */
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

  /** Begins a command. Resolves when its claims and marks are written, or it has failed before that. */
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

  /** Whether a command has begun whose claims are not written yet. `markOf` shows its candidates from the start. */
  get isStarting(): boolean {
    return [...this.#starting.values()].some(({ mark }) => mark === undefined);
  }

  /** Whether a recent attempt to mark or delete the claim failed: it is left alone until its back-off ends. */
  isStuck(claim: NodeClaim): boolean {
    return this.#stuck.has(claim);
  }

  /** The mark of a candidate's claim, also before the cache shows it. */
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
        for (const { pool } of mark.needs) this.#options.backOff.succeeded(poolBackOffKey(pool, mark.reason));
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
      // A claim that was deleted cannot be kept, even if its node is healthy again.
      recovery: (claim) => (known.deleted.has(claim.metadata.uid ?? '') ? undefined : this.#recovery(claim)),
      now: this.#options.clock.now(),
      limitMs: Math.min(LONGEST_LIMIT_MS, Math.max(SHORTEST_LIMIT_MS, commands * LIMIT_PER_COMMAND_MS)),
    });
  }

  /** Writes the replacement claims. If one cannot be written, the whole command fails. */
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
   * Writes the missing marks, also those of an earlier process: nothing is deleted before all candidates are marked. If a mark cannot be
   * written, the command is undone, or plans would wait for it forever.
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

  /** The marks of a command that begins in this process. */
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
    // Its planned nodes no longer count against the limits of their pools.
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
    // Claims before marks: after a crash in between, the marks show that their replacements are gone.
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
      // The pods of an interrupted machine still need their reserved room.
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

  /** Frees the room on nodes that the command needed, except where other commands need the same nodes. */
  #forgetSuccessors(mark: Mark): void {
    for (const name of this.#underWay.neededOnlyBy(mark)) this.#options.successors.forget(name);
  }

  /** Deletes the candidates' claims. Returns how to undo the command if some cannot be deleted. */
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
    for (const pool of new Set(pools)) this.#options.backOff.failed(poolBackOffKey(pool, reason));
  }
}

function isThereToStay(claim: NodeClaim | undefined): claim is NodeClaim {
  return claim !== undefined && !isClaimGoing(claim);
}

function isNotDeleted({ metadata }: NodeClaim): boolean {
  return metadata.deletionTimestamp === undefined;
}

/** Whether the claim has not been deleted; the cache may not show a deletion of ours yet. */
function isStaying({ deleted }: KnownCommand, claim: NodeClaim): boolean {
  return isNotDeleted(claim) && !deleted.has(claim.metadata.uid ?? '');
}
