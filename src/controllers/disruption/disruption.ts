/**
 * Looks again and again for nodes that should go, and has them go. Each look asks its methods in order; what the first one
 * plans is checked against the cluster as it is then, and begun. Nothing is waited for but the writes of the beginning:
 * the commands themselves are carried out beside each other and beside the next looks.
 */
import type { Node } from '../../apis/kubernetes/node.ts';
import type { KubeObject } from '../../apis/kubernetes/object.ts';
import type { ReconcileContext, ReconcileResult } from '../../kube/controller.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Nominations } from '../../state/nominations.ts';
import type { Successors } from '../../state/successors.ts';
import type { UsablePool } from '../../state/usable-pool.ts';
import type { ControllersOptions } from '../controllers-options.ts';
import { InformedController } from '../informed-controller.ts';
import type { DisruptionBudgets } from '../node/termination/disruption-budgets.ts';
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
  readonly nominations: Nominations;
  readonly successors: Successors;
  readonly budgets: DisruptionBudgets;
  readonly commands: Commands;
  readonly backOff: BackOff;
  readonly spot: SpotPlanning;
  readonly policies: Pick<SpotPolicies, 'for'>;
  /** How long and how hard other places for pods are looked for. */
  readonly provisioning?: ProvisionerLimits;
  /** Finds cheaper fleets; the last to be asked. */
  readonly consolidation?: DisruptionMethod;
}

/** What starts together with us has started by then. */
const FIRST_LOOK_MS = 10_000;
/** At most so long between two looks. */
const PERIOD_MS = 10_000;
/** What happens close together is looked at together. */
const SETTLE_MS = 1000;
/** Where something was begun there may be more. */
const AT_ONCE_MS = 200;
/** Beginnings that take longer are not waited for. */
const BEGIN_MS = 10_000;

export class Disruption {
  readonly name = 'disruption';
  readonly #options: DisruptionOptions;
  readonly #controller: InformedController;
  readonly #methods: readonly DisruptionMethod[];
  readonly #metrics: DisruptionMetrics;
  readonly #budgetMetrics: BudgetMetrics;
  readonly #pools: UsablePools;
  readonly #staleMarks: StaleMarks;

  constructor(options: DisruptionOptions) {
    const { metrics, clock, logger, recorder, provider, backOff, state, provisioning = {}, consolidation } = options;
    this.#options = options;
    this.#metrics = new DisruptionMetrics(metrics);
    this.#budgetMetrics = new BudgetMetrics(metrics);
    this.#pools = new UsablePools({ ...options, ...provisioning });
    this.#staleMarks = new StaleMarks(options);
    const shared = { solve: engineSolve(clock, options.spot, provisioning), backOff, metrics: this.#metrics };
    this.#methods = [
      new Repair({ ...shared, policies: provider.repairPolicies(), recorder, logger }),
      new Emptiness({ ...shared, policies: options.policies }),
      new Replacement({ ...shared, name: 'drift', reason: 'Drifted', dueSince: driftedSince }),
      new Replacement({ ...shared, name: 'expiry', reason: 'Expired', dueSince: expiresAt }),
      ...(consolidation === undefined ? [] : [consolidation]),
    ];
    const { nodeClaims, nodes, nodePools, nodeClasses, disruptionBudgets } = state.informers;
    this.#controller = new InformedController(options, {
      name: this.name,
      concurrency: 1,
      timeoutMs: 120_000,
      backOff: { baseDelayMs: 1000, maxDelayMs: PERIOD_MS },
      listen: (queue) => {
        queue.add('all', { afterMs: FIRST_LOOK_MS });
        const startsAt = clock.elapsed() + FIRST_LOOK_MS;
        const soon = (): void => queue.add('all', { afterMs: Math.max(SETTLE_MS, startsAt - clock.elapsed()) });
        const heard = { added: soon, updated: soon, deleted: soon };
        // What had no place, or could not be launched, may have one now, and may be.
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
        ];
      },
      reconcile: (_, context) => this.#look(context),
    });
  }

  /** Runs until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#controller.run(signal);
  }

  async #look(context: ReconcileContext): Promise<ReconcileResult> {
    const { clock, commands, backOff } = this.#options;
    const { signal } = context;
    const look = this.#take();
    this.#budgetMetrics.show([...look.poolNamed.values()], look.budgets);
    backOff.sweep();
    await this.#staleMarks.sweep(look.nodes, signal);
    for (const method of this.#methods) {
      // Whatever else waits comes in between.
      await clock.sleep(0, signal);
      // Until the cluster shows all that was begun, places would be given away twice.
      if (method.places && commands.isStarting) continue;
      const startedAt = clock.elapsed();
      const planned = await method.plan(look, signal);
      this.#metrics.evaluated(method.reason, (clock.elapsed() - startedAt) / 1000);
      const pools = planned.some(({ newNodes }) => newNodes.length > 0) ? await look.pools(signal) : [];
      const begun = this.#valid(planned, pools, context);
      if (begun.length === 0) continue;
      for (const command of begun) this.#keepPlaces(command);
      await atMost(clock, BEGIN_MS, Promise.all(begun.map((command) => commands.begin(command))), signal);
      return { requeueAfterMs: AT_ONCE_MS };
    }
    return { requeueAfterMs: Math.max(0, Math.min(PERIOD_MS, this.#nextAt(look) - clock.now())) };
  }

  /** Those of the commands that still hold now that they are to begin. */
  #valid(planned: readonly Command[], pools: readonly UsablePool[], { logger }: ReconcileContext): Command[] {
    if (planned.length === 0) return [];
    const look = this.#take();
    const limits = new PoolLimits({ pools, nodes: look.nodes, coming: this.#options.state.coming });
    return planned.filter((command) => {
      const problem = validateCommand(command, look, limits);
      if (problem === undefined) return true;
      logger.info('disruption dropped: the plan no longer holds', { reason: command.reason, problem });
      this.#metrics.dropped(command);
      for (const { state } of command.candidates)
        this.#refuse({ refused: state, why: `the plan was dropped, ${problem}` });
      return false;
    });
  }

  /** Where pods are to go nothing is taken away; the next round of provisioning says which goes where. */
  #keepPlaces({ candidates, receivers }: Command): void {
    const pods = candidates.flatMap((candidate) => candidate.pods);
    for (const name of receivers) this.#options.nominations.nominate(name, pods);
  }

  #take(): Look {
    const { state, clock, commands, nominations, successors, budgets, random, recorder } = this.#options;
    return new Look({
      state,
      now: clock.now(),
      markOf: (claim) => commands.markOf(claim),
      isNominated: (node) => nominations.has(node) || successors.awaitedBy(node.claim?.metadata.name ?? ''),
      budgetsOf: (pod) => budgets.of(pod),
      readPools: (signal) => this.#pools.read(signal),
      refuse: (refusal) => this.#refuse(refusal),
      refusePool: (pool, why) => recorder.record(disruptionBlocked(pool, why)),
      newId: () => random.suffix(10),
    });
  }

  #refuse({ refused: { node, claim }, why }: Refusal): void {
    const { recorder } = this.#options;
    if (node !== undefined) recorder.record(disruptionBlocked(node, why));
    if (claim !== undefined) recorder.record(disruptionBlocked(claim, why));
  }

  /** When there may be something to do by time alone. */
  #nextAt(look: Look): number {
    const expiries = look.nodes.map(expiresAt);
    const wakes = this.#methods.map(({ wakeAt }) => wakeAt);
    return [...expiries, ...wakes, look.budgets.changesAt(BUDGETED_REASONS)].reduce<number>(
      (next, at) => (at !== undefined && at > look.now ? Math.min(next, at) : next),
      Number.POSITIVE_INFINITY,
    );
  }
}

/** Whether the node only says that it is still there. */
function isHeartbeat(node: Node, old: Node): boolean {
  const seen = ({ metadata, spec, status }: Node): string => {
    const { labels, annotations, deletionTimestamp } = metadata;
    const conditions = status?.conditions?.map((condition) => [condition.type, condition.status, condition.reason]);
    return JSON.stringify([labels, annotations, deletionTimestamp, spec, conditions]);
  };
  return seen(node) === seen(old);
}

/** Waits for the promise, but not longer than that. */
async function atMost(clock: Clock, ms: number, promise: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const limit = clock.deadline(ms, signal);
  const over = new Promise<void>((resolve) => limit.signal.addEventListener('abort', () => resolve(), { once: true }));
  await Promise.race([promise, over]);
  limit.cancel();
  signal.throwIfAborted();
}
