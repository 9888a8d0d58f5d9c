/**
 * The disruption loop. Each look at the cluster asks the methods in order. The first plan is validated against the cluster as it is by
 * then, and its commands begin. The loop waits only for their first writes: `Commands` carries them out in parallel. Planning for a whole
 * fleet takes seconds, so consolidation runs beside the loop, when the other methods have found nothing to do.
 */
import type { Node } from '../../apis/kubernetes/node.ts';
import type { KubeObject } from '../../apis/kubernetes/object.ts';
import type { ReconcileContext, ReconcileResult } from '../../kube/controller.ts';
import type { Clock } from '../../platform/clock.ts';
import type { ComingNodes } from '../../state/coming-nodes.ts';
import type { DisruptionBudgets } from '../../state/drain/disruption-budgets.ts';
import type { Headroom } from '../../state/headroom.ts';
import type { Nominations } from '../../state/nominations.ts';
import type { Successors } from '../../state/successors.ts';
import type { UsablePool } from '../../state/usable-pool.ts';
import type { ControllersOptions } from '../controllers-options.ts';
import { inSlices } from '../in-slices.ts';
import { InformedController } from '../informed-controller.ts';
import type { PodEvents } from '../nodeclaim/podevents/pod-events.ts';
import { mayReboot } from '../nodeclaim/reboot/reboot-history.ts';
import { requestReboot } from '../nodeclaim/reboot/request-reboot.ts';
import { PoolLimits } from '../pool-limits.ts';
import type { ProvisionerLimits } from '../provisioning/provisioner.ts';
import type { SpotPlanning } from '../spot-policy/spot-planning.ts';
import type { SpotPolicies } from '../spot-policy/spot-policies.ts';
import { UsablePools } from '../usable-pools.ts';
import type { BackOff } from './back-off.ts';
import { BUDGETED_REASONS, BudgetMetrics } from './budgets/budget-metrics.ts';
import type { Refusal } from './candidate.ts';
import type { Command } from './commands/command.ts';
import type { Commands } from './commands/commands.ts';
import { driftedSince } from './drift.ts';
import { Emptiness } from './emptiness.ts';
import { engineSolve } from './engine-solve.ts';
import { disruptionBlocked } from './events.ts';
import { expiresAt } from './expiry.ts';
import { Look } from './look.ts';
import type { DisruptionMethod } from './method.ts';
import { DisruptionMetrics } from './metrics.ts';
import { Repair } from './repair/repair.ts';
import { Replacement } from './replacement.ts';
import { StaleMarks } from './stale-marks.ts';
import { validateCommand } from './validate-command.ts';

export interface DisruptionOptions extends ControllersOptions {
  readonly coming: ComingNodes;
  readonly nominations: Nominations;
  readonly successors: Successors;
  readonly budgets: DisruptionBudgets;
  readonly commands: Commands;
  readonly backOff: BackOff;
  readonly podEvents: Pick<PodEvents, 'latest'>;
  readonly spot: SpotPlanning;
  /** The room that CapacityBuffers reserve. */
  readonly headroom: Pick<Headroom, 'isKnown' | 'on'>;
  readonly policies: Pick<SpotPolicies, 'for'>;
  /** Time and work limits of the search for room for displaced pods. */
  readonly provisioning?: ProvisionerLimits;
  /** Finds cheaper fleets; asked last. */
  readonly consolidation?: DisruptionMethod;
}

/** Other controllers of this process have started by then. */
const FIRST_LOOK_MS = 10_000;
/** The longest time between two looks. */
const PERIOD_MS = 10_000;
/** Changes within this time are handled by one look. */
const SETTLE_MS = 1000;
/** After a command has begun, the next look follows soon: there may be more to do. */
const AT_ONCE_MS = 200;
/** Yields to the event loop after this many commands. */
const BEGUN_TOGETHER = 20;
/** The longest wait for the first writes of commands. */
const BEGIN_MS = 10_000;

/** The commands of a plan that have begun. Each promise resolves when the marks of its command are written. */
type Beginnings = Map<Command, Promise<void>>;

/** The two keys of the work queue. */
const LOOK = 'look';
const CONSOLIDATION = 'consolidation';

export class Disruption {
  readonly name = 'disruption';
  readonly #options: DisruptionOptions;
  readonly #controller: InformedController;
  readonly #methods: readonly DisruptionMethod[];
  readonly #metrics: DisruptionMetrics;
  readonly #budgetMetrics: BudgetMetrics;
  readonly #pools: UsablePools;
  readonly #staleMarks: StaleMarks;
  #begun = 0;
  #beginning: Promise<void> = Promise.resolve();

  constructor(options: DisruptionOptions) {
    const { metrics, clock, recorder, clouds, backOff, state, provisioning = {} } = options;
    this.#options = options;
    this.#metrics = new DisruptionMetrics(metrics);
    this.#budgetMetrics = new BudgetMetrics(metrics);
    this.#pools = new UsablePools({ ...options, ...provisioning });
    this.#staleMarks = new StaleMarks(options);
    const solve = engineSolve(clock, options.spot, provisioning);
    const shared = { solve, backOff, policies: options.policies, recorder, metrics: this.#metrics };
    this.#methods = [
      new Repair({
        ...shared,
        policiesOf: (node) => clouds.repairPolicies(node),
        reboots: {
          can: (claim, now) => clouds.canReboot(claim) && mayReboot(claim, now),
          request: (claim, graceMs, signal) => requestReboot(options, claim, graceMs, signal),
        },
      }),
      new Emptiness({ ...shared, clock, podEvents: options.podEvents, headroom: options.headroom }),
      new Replacement({ ...shared, name: 'drift', reason: 'Drifted', dueSince: driftedSince }),
      new Replacement({ ...shared, name: 'expiry', reason: 'Expired', dueSince: expiresAt }),
    ];
    const { nodeClaims, nodes, nodePools, nodeClasses, disruptionBudgets, spotPolicies } = state.informers;
    this.#controller = new InformedController(options, {
      name: this.name,
      concurrency: 2,
      timeoutMs: 120_000,
      backOff: { baseDelayMs: 1000, maxDelayMs: PERIOD_MS },
      listen: (queue) => {
        queue.add(LOOK, { afterMs: FIRST_LOOK_MS });
        const startsAt = clock.elapsed() + FIRST_LOOK_MS;
        const soon = (): void => queue.add(LOOK, { afterMs: Math.max(SETTLE_MS, startsAt - clock.elapsed()) });
        const heard = { added: soon, updated: soon, deleted: soon };
        // A changed spec may make room, or allow launches that failed.
        const changed = (object: KubeObject, old: KubeObject): void => {
          if (object.metadata.generation !== old.metadata.generation) backOff.clear();
          soon();
        };
        return [
          nodeClaims.addHandler(heard),
          nodes.addHandler({ ...heard, updated: (node, old) => !isHeartbeat(node, old) && soon() }),
          nodePools.addHandler({ ...heard, updated: changed }),
          ...[...nodeClasses.values()].map((informer) => informer.addHandler({ updated: changed })),
          disruptionBudgets.addHandler(heard),
          spotPolicies.addHandler({ ...heard, updated: changed }),
        ];
      },
      reconcile: (key, context) => (key === LOOK ? this.#look(context) : this.#consolidate(context)),
    });
  }

  /** Runs until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#controller.run(signal);
  }

  async #look(context: ReconcileContext): Promise<ReconcileResult> {
    const { clock, backOff, consolidation } = this.#options;
    const { signal } = context;
    const look = await this.#take(signal);
    this.#budgetMetrics.show([...look.poolNamed.values()], look.budgets);
    backOff.sweep();
    await this.#staleMarks.sweep(look.nodes, signal);
    for (const method of this.#methods) {
      // Yields to the event loop.
      await clock.sleep(0, signal);
      const begun = await this.#ask(method, look, context);
      // Consolidation may have begun commands meanwhile that use the room which the next methods would count on.
      if (begun || look.isOutdated) return { requeueAfterMs: AT_ONCE_MS };
    }
    if (consolidation !== undefined) this.#controller.queue.add(CONSOLIDATION);
    return { requeueAfterMs: Math.max(0, Math.min(PERIOD_MS, this.#nextAt(look) - clock.now())) };
  }

  async #consolidate(context: ReconcileContext): Promise<undefined> {
    const { clock, consolidation } = this.#options;
    if (consolidation === undefined) return;
    const look = await this.#take(context.signal);
    const begun = await this.#ask(consolidation, look, context);
    const { wakeAt = 0 } = consolidation;
    const wakeMs = wakeAt > look.now ? Math.max(0, wakeAt - clock.now()) : PERIOD_MS;
    const afterMs = begun || look.isOutdated ? AT_ONCE_MS : Math.min(PERIOD_MS, wakeMs);
    this.#controller.queue.add(LOOK, { afterMs });
  }

  /** Plans with a method and begins its commands. Returns whether any has begun. */
  async #ask(method: DisruptionMethod, look: Look, context: ReconcileContext): Promise<boolean> {
    const { clock, commands } = this.#options;
    const { signal } = context;
    // Until all begun commands have written their claims, the same room would be given away twice.
    if (method.places && commands.isStarting) return false;
    const startedAt = clock.elapsed();
    const planned = await method.plan(look, signal);
    const begun = this.#begun;
    this.#metrics.evaluated(method.reason, (clock.elapsed() - startedAt) / 1000);
    if (planned.length === 0) return false;
    // Validation sees commands that have begun meanwhile, but not which room they use. Consolidation has already checked its plan
    // against commands that began before `plan` returned.
    const hasGivenPlaces = (): boolean =>
      commands.isStarting || (method === this.#options.consolidation ? this.#begun !== begun : look.isOutdated);
    const beginnings: Beginnings = new Map();
    try {
      const launches = planned.some(({ newNodes }) => newNodes.length > 0);
      const pools = launches ? [...(await look.pools(signal)), ...(await look.staticPools(signal))] : [];
      await this.#inTurn(async () => {
        if (method.places && hasGivenPlaces()) this.#drop(planned, context);
        else await this.#begin(planned, pools, beginnings, context);
      });
    } finally {
      await method.begun?.([...beginnings.keys()], signal);
    }
    await atMost(clock, BEGIN_MS, Promise.all(beginnings.values()), signal);
    return beginnings.size > 0;
  }

  /** Runs the action after all earlier ones, so that only one plan at a time begins. */
  #inTurn(action: () => Promise<void>): Promise<void> {
    const turn = this.#beginning.then(action);
    this.#beginning = turn.catch(() => {});
    return turn;
  }

  /** Drops a plan whose room other commands may have taken; the next look makes a new one. */
  #drop(planned: readonly Command[], { logger }: ReconcileContext): void {
    logger.info('disruptions dropped: others have begun since they were planned', { commands: planned.length });
    for (const command of planned) this.#metrics.dropped(command);
  }

  /** Begins the commands that are still valid. */
  async #begin(
    planned: readonly Command[],
    pools: readonly UsablePool[],
    beginnings: Beginnings,
    { logger, signal }: ReconcileContext,
  ): Promise<void> {
    const { clock, commands } = this.#options;
    const look = await this.#take(signal);
    const limits = new PoolLimits({ pools, nodes: look.nodes, coming: this.#options.coming });
    for (const [index, command] of planned.entries()) {
      if (index % BEGUN_TOGETHER === BEGUN_TOGETHER - 1) await clock.sleep(0, signal);
      const problem = await inSlices(
        validateCommand(command, look, {
          limits,
          policies: this.#options.policies,
          policiesOf: (node: Node) => this.#options.clouds.repairPolicies(node),
        }),
        clock,
        signal,
      );
      if (problem === undefined) {
        this.#begun++;
        this.#keepPlaces(command);
        beginnings.set(command, commands.begin(command));
        continue;
      }
      logger.info('disruption dropped: the plan no longer holds', { reason: command.reason, problem });
      this.#metrics.dropped(command);
      for (const { state } of command.candidates)
        this.#refuse({ refused: state, why: `the plan was dropped: ${problem}` });
    }
  }

  /** Reserves the receiving nodes for the displaced pods until the next provisioning round assigns them. */
  #keepPlaces({ candidates, receivers }: Command): void {
    const pods = candidates.flatMap((candidate) => candidate.pods);
    for (const name of receivers) this.#options.nominations.nominate(name, pods);
  }

  #take(signal: AbortSignal): Promise<Look> {
    const { state, clock, commands, nominations, successors, budgets, random, recorder, writes } = this.#options;
    const slices = Look.take({
      state,
      now: clock.now(),
      newest: (claim) => writes.newest(claim),
      markOf: (claim) => commands.markOf(claim),
      isNominated: (node) => nominations.has(node) || successors.awaitedBy(node.claim?.metadata.name ?? ''),
      kept: { nominations, successors },
      isStuck: (claim) => commands.isStuck(claim),
      budgetsOf: (pod) => budgets.of(pod),
      readPools: (signal) => this.#pools.read(signal),
      refuse: (refusal) => this.#refuse(refusal),
      refusePool: (pool, why) => recorder.record(disruptionBlocked(pool, why)),
      newId: () => random.suffix(10),
      begun: () => this.#begun,
    });
    return inSlices(slices, clock, signal);
  }

  #refuse({ refused: { node, claim }, why }: Refusal): void {
    const { recorder } = this.#options;
    if (node !== undefined) recorder.record(disruptionBlocked(node, why));
    if (claim !== undefined) recorder.record(disruptionBlocked(claim, why));
  }

  /** The next time at which there may be something to do without a change in the cluster. */
  #nextAt(look: Look): number {
    const expiries = look.nodes.map(expiresAt);
    const wakes = this.#methods.map(({ wakeAt }) => wakeAt);
    return [...expiries, ...wakes, look.budgets.changesAt(BUDGETED_REASONS)].reduce<number>(
      (next, at) => (at !== undefined && at > look.now ? Math.min(next, at) : next),
      Number.POSITIVE_INFINITY,
    );
  }
}

/** Whether the update of a node is only a heartbeat. */
function isHeartbeat(node: Node, old: Node): boolean {
  const seen = ({ metadata, spec, status }: Node): string => {
    const { labels, annotations, deletionTimestamp } = metadata;
    const conditions = status?.conditions?.map((condition) => [condition.type, condition.status, condition.reason]);
    return JSON.stringify([labels, annotations, deletionTimestamp, spec, conditions]);
  };
  return seen(node) === seen(old);
}

/** Waits for the promise, but no longer than `ms`. */
async function atMost(clock: Clock, ms: number, promise: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const limit = clock.deadline(ms, signal);
  const over = new Promise<void>((resolve) => limit.signal.addEventListener('abort', () => resolve(), { once: true }));
  await Promise.race([promise, over]);
  limit.cancel();
  signal.throwIfAborted();
}
