/**
 * Makes nodes for pods that have no place: gathers a batch, takes a snapshot, asks the engine, and writes a claim for each
 * node it wants. What it wrote and why is kept in the decision log.
 */
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import type { KubeObject } from '../../apis/kubernetes/object.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import type { Clouds } from '../../cloud/clouds.ts';
import type { NewNode, Solution } from '../../engine/solution.ts';
import { solveSteps } from '../../engine/solve.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { EventRecorder } from '../../kube/event-recorder.ts';
import { TroubleLog } from '../../kube/trouble-log.ts';
import type { Clock } from '../../platform/clock.ts';
import { type Logger, SILENT_LOGGER } from '../../platform/logger.ts';
import { Metrics } from '../../platform/metrics.ts';
import { type BuiltProblem, buildProblemSteps } from '../../state/build-problem.ts';
import { BY_PROVIDER_ID } from '../../state/cluster-informers.ts';
import { type ClusterState, needsPlace } from '../../state/cluster-state.ts';
import type { ComingNodes } from '../../state/coming-nodes.ts';
import type { DisruptionBudgets } from '../../state/drain/disruption-budgets.ts';
import type { Nominations } from '../../state/nominations.ts';
import { CLAIM_PREFIX, isClaimGoing, isGoing, type StateNode } from '../../state/state-node.ts';
import { mayBind } from '../../state/steerable.ts';
import type { Successors } from '../../state/successors.ts';
import type { UsablePool } from '../../state/usable-pool.ts';
import { inSlices } from '../in-slices.ts';
import { isLost } from '../interruption/is-lost.ts';
import type { PodMetrics } from '../metrics/pod-metrics.ts';
import type { LivenessLimits } from '../nodeclaim/lifecycle/decide-liveness.ts';
import type { OwnWrites } from '../own-writes.ts';
import { PoolLimits } from '../pool-limits.ts';
import type { SpotPlanning } from '../spot-policy/spot-planning.ts';
import { UsablePools } from '../usable-pools.ts';
import { ClaimWriter } from '../write-claim.ts';
import { Batcher, type BatchWindow } from './batcher.ts';
import type { DecisionLog } from './decision-log.ts';
import { foreseeLandings, type Landed } from './foresee-landings.ts';
import { isHeld } from './held-pods.ts';
import { LaterRound } from './later-round.ts';
import { LaunchGuard } from './launch-guard.ts';
import { type ProvisioningMetrics, provisioningMetrics } from './metrics.ts';
import { type IsHeld, needsRound, placelessPods } from './placeless-pods.ts';
import { RoundLog } from './round-log.ts';
import { RoundTeller } from './round-teller.ts';
import { Rounds } from './rounds.ts';

/** How long pods are gathered, and how long places for them are looked for. */
export interface ProvisionerLimits {
  /** Read anew for every batch, so that it can change while the program runs. */
  readonly batch?: BatchWindow;
  /** How long the engine may improve a plan. */
  readonly solveMs?: number;
  /** How much work it may put into that, whatever the time: on a virtual clock no time passes while it works. */
  readonly solveSteps?: number;
  /** How long a cloud may take to say what it sells before its pools are left out of this batch. */
  readonly instanceTypesMs?: number;
}

export interface ProvisionerOptions extends ProvisionerLimits {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly state: ClusterState;
  readonly clouds: Clouds;
  readonly writes: OwnWrites;
  readonly recorder: EventRecorder;
  readonly decisions: DecisionLog;
  /** How long a claim may take for its steps. */
  readonly limits?: Partial<LivenessLimits>;
  /** Hears of each claim that is written. */
  readonly written?: (claim: NodeClaim) => void;
  readonly coming: ComingNodes;
  readonly nominations: Nominations;
  readonly successors: Successors;
  readonly budgets: Pick<DisruptionBudgets, 'of'>;
  /** What risk and policies do to plans. */
  readonly spot: SpotPlanning;
  readonly podMetrics?: Pick<PodMetrics, 'decided'>;
  /** Shows what the clouds sell. */
  readonly showSold?: (pools: readonly UsablePool[]) => void;
  readonly logger?: Logger;
  readonly metrics?: Metrics;
}

const NAME = 'provisioner';
/** So many nodes are dealt with before others have their turn. */
const AT_A_TIME = 50;

export class Provisioner {
  readonly name = NAME;
  readonly rounds = new Rounds();
  readonly #options: ProvisionerOptions;
  readonly #logger: Logger;
  readonly #roundLog: RoundLog;
  readonly #trouble: TroubleLog;
  readonly #metrics: ProvisioningMetrics;
  readonly #batcher: Batcher;
  readonly #later: LaterRound;
  readonly #pools: UsablePools;
  readonly #writer: ClaimWriter;
  readonly #teller: RoundTeller;
  /** Keeps launches that do not help from being repeated for ever. */
  readonly #guard: LaunchGuard;
  readonly #isHeld: IsHeld;

  constructor(options: ProvisionerOptions) {
    const {
      budgets,
      client,
      coming,
      state,
      clock,
      metrics = new Metrics(),
      batch = { idleMs: 1000, maxMs: 10_000 },
    } = options;
    this.#options = options;
    this.#logger = (options.logger ?? SILENT_LOGGER).with({ controller: NAME });
    this.#roundLog = new RoundLog({ clock: options.clock, logger: this.#logger });
    this.#trouble = new TroubleLog({ clock: options.clock, logger: this.#logger });
    this.#metrics = provisioningMetrics(metrics);
    this.#pools = new UsablePools({ ...options, logger: this.#logger });
    this.#writer = new ClaimWriter({ client, coming, state, metrics, written: options.written });
    this.#guard = new LaunchGuard({ ...options, logger: this.#logger, metrics });
    this.#isHeld = (pod, node) => isHeld(pod, node, (counted) => budgets.of(counted), clock.now());
    this.#teller = new RoundTeller({ ...options, name: NAME, logger: this.#logger, metrics: this.#metrics });
    this.#batcher = new Batcher({ clock, window: batch });
    this.#later = new LaterRound({ clock, trigger: () => this.#batcher.trigger() });
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, state } = this.#options;
    const stops = this.#listen();
    try {
      while (!signal.aborted) {
        await this.#batcher.next(signal);
        try {
          if (needsRound(state, this.#isHeld)) await this.provision(signal);
          else this.#nothingToPlan(state.nodes());
          await this.#guard.write(signal);
        } catch (error) {
          if (signal.aborted) return;
          this.#trouble.error('provisioning failed', error);
          await clock.sleep(1000, signal);
          this.#batcher.trigger();
        }
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      for (const stop of stops) stop();
      this.#later.stop();
    }
  }

  /** Asks for a round almost at once: a machine goes, and its pods need another place. */
  hurry(): void {
    this.#batcher.hurry();
  }

  /** One round: everything that is pending now, and everything on nodes that go. */
  async provision(signal: AbortSignal): Promise<void> {
    const pools = await this.#pools.read(signal);
    this.#options.showSold?.(pools);
    const landed = await this.#plan(pools, signal);
    // Only what is left over when the others are where they will be is planned for again.
    if (landed !== undefined) await this.#plan(pools, signal, landed);
  }

  /** Plans for all that have no place, and begins that; where some would not find theirs, it says where the others land, and is not over. */
  async #plan(pools: readonly UsablePool[], signal: AbortSignal, before?: Landed): Promise<Landed | undefined> {
    const guard = this.#guard;
    const { state, clock, decisions, spot } = this.#options;
    const startedAt = clock.elapsed();
    // All of it is read in one moment: while the problem is built, pods come and go.
    const nodes = state.nodes();
    const placeless = placelessPods(state, nodes, this.#options, this.#isHeld, before);
    const pods = { ...placeless, pending: guard.admit(placeless.pending) };
    if (pods.pending.length === 0 && pods.displaced.length === 0) return void this.#nothingToPlan(nodes);
    const snapshot = {
      ...pods,
      nodes,
      isLost: (claim: NodeClaim) => isLost(claim, clock.now()),
      launches: (pool: string) => guard.launches(pool),
      roomBeside: (pod: Pod) => guard.roomBeside(pod),
      missingFrom: (node: StateNode) => state.room.missingFrom(node),
      daemonSets: state.daemonSets(),
      pools,
      namespaces: state.informers.namespaces.list(),
      storage: state.storage,
      models: state.models,
    };
    const built = await inSlices(buildProblemSteps(snapshot), clock, signal);
    const solved = await this.#solve(built, signal);
    const { solution, ...policies } = await inSlices(spot.settle(solved, built), clock, signal);
    const poolNamed = new Map(pools.map(({ pool }) => [pool.metadata.name ?? '', pool]));
    const helpful = guard.among(solution.newNodes, built.pods);
    const withinLimits = this.#withinLimits([...helpful], pools, built);
    const writes: Promise<NodeClaim | undefined>[] = [];
    for (const node of solution.newNodes) {
      const pool = poolNamed.get(node.pool) as NodePool;
      writes.push(withinLimits.has(node) ? this.#create(node, pool, built, signal) : Promise.resolve(undefined));
      // All are under way at once, but they need not begin in the same moment.
      if (writes.length % AT_A_TIME === 0) await clock.sleep(0, signal);
    }
    const claims = await Promise.all(writes);
    signal.throwIfAborted();
    await inSlices(this.#teller.plan(built, solution, claims, guard.heldPools()), clock, signal);
    this.#teller.policies(policies, poolNamed);
    const unwritten = solution.newNodes.filter((_, index) => claims[index] === undefined);
    const landed = before ?? (await inSlices(foreseeLandings(built, solution), clock, signal));
    const isOver = landed === before;
    if (isOver) {
      const left = unwritten.flatMap((node) => node.pods.map((number) => built.pods[number] as Pod));
      this.rounds.ended(goingOf(nodes), goingOf(nodes, new Set(left.map(({ spec }) => spec.nodeName))));
    }
    const { snapshot: _, ...question } = built;
    decisions.add({ at: clock.now(), built: question, solution, claims, policies });
    const withoutPlace = solution.unplaced.reduce((sum, { pods }) => sum + pods.length, 0);
    const failed = unwritten.filter((node) => withinLimits.has(node));
    this.#later.ended({
      waiting: state.provisionable().length + withoutPlace,
      displaced: snapshot.displaced.length,
      unwritten: failed.length,
    });
    const seconds = (clock.elapsed() - startedAt) / 1000;
    this.#metrics.duration.observe({ controller: NAME }, seconds);
    this.#roundLog.tell(built, solution, seconds);
    return isOver ? undefined : landed;
  }

  /** Every pod has a place, or one is kept for it. */
  #nothingToPlan(nodes: readonly StateNode[]): void {
    const going = goingOf(nodes);
    this.rounds.ended(going);
    this.#later.ended({ waiting: this.#options.state.provisionable().length, displaced: going.length });
  }

  #solve(built: BuiltProblem, signal: AbortSignal): Promise<Solution> {
    const { clock, solveMs = 1000, solveSteps: maxSteps = 50_000_000 } = this.#options;
    const startedAt = clock.elapsed();
    const elapsedMs = (): number => clock.elapsed() - startedAt;
    return inSlices(solveSteps(built.problem, { elapsedMs, deadlineMs: solveMs, maxSteps }), clock, signal);
  }

  /**
   * Those of the nodes that there is room for under the limits of their pools, which is theirs from now on: others may have written
   * claims while this was solved, and go on doing so.
   */
  #withinLimits(
    newNodes: readonly NewNode[],
    pools: readonly UsablePool[],
    { cloudName }: BuiltProblem,
  ): ReadonlySet<NewNode> {
    const { clock, coming, state } = this.#options;
    const lost = (claim: NodeClaim): boolean => isLost(claim, clock.now());
    const limits = new PoolLimits({ pools, nodes: state.nodes(), coming, isLost: lost });
    const room = limits.takeEach(newNodes, cloudName);
    if (room.size < newNodes.length) {
      this.#logger.info('nodes not asked for: others have used the limits up', { nodes: newNodes.length - room.size });
      this.#batcher.trigger();
    }
    return room;
  }

  /** One claim that cannot be written does not keep the others from being written; it is tried again in a later round. */
  async #create(
    node: NewNode,
    pool: NodePool,
    built: BuiltProblem,
    signal: AbortSignal,
  ): Promise<NodeClaim | undefined> {
    const { cloudName, pods, problem } = built;
    try {
      const annotations = this.#guard.annotations(node, pods, problem);
      const claim = await this.#writer.write({ node, pool, cloudName, reason: 'provisioned', annotations }, signal);
      // At once: its machine may have joined before the other claims are written.
      const expected = node.pods.map((number) => pods[number] as Pod);
      this.#options.nominations.nominate(`${CLAIM_PREFIX}${claim.metadata.name}`, expected);
      this.#expectSuccessors(claim, expected);
      return claim;
    } catch (error) {
      if (signal.aborted) return undefined;
      this.#trouble.error('claim could not be written', error, { NodePool: { name: node.pool } });
      return undefined;
    }
  }

  /** What comes after pods that leave other nodes is put where they were planned to go, as long as we can do that for all that come. */
  #expectSuccessors({ metadata: { name = '' } }: NodeClaim, pods: readonly Pod[]): void {
    const { state, successors } = this.#options;
    if (pods.some((pod) => !pod.spec.nodeName && !mayBind(pod))) return;
    const leaving = pods.filter(({ spec }) => spec.nodeName);
    const left = new Set(leaving.map(({ spec }) => spec.nodeName ?? ''));
    const origins = [...left].flatMap((node) => {
      const providerID = state.informers.nodes.get(node)?.spec?.providerID ?? '';
      return state.informers.nodeClaims.byIndex(BY_PROVIDER_ID, providerID).map(({ metadata }) => metadata.name ?? '');
    });
    if (origins.length > 0) successors.expect(name, leaving, origins);
  }

  /** What can change where pods have a place: the pods, the pools, and nodes that go. */
  #listen(): (() => void)[] {
    const { informers } = this.#options.state;
    const trigger = (): void => this.#batcher.trigger();
    const changed = <T extends KubeObject>() => ({ added: trigger, updated: (_: T) => trigger() });
    return [
      ...this.#guard.follow(() => this.#batcher.note()),
      informers.pods.addHandler({
        added: (pod) => needsPlace(pod) && trigger(),
        // That the scheduler has now looked at a pod which was there before makes no batch larger.
        updated: (pod, old) => needsPlace(pod) && (needsPlace(old) ? this.#batcher.note() : trigger()),
      }),
      informers.nodePools.addHandler(changed()),
      informers.openModels.addHandler({ ...changed(), deleted: trigger }),
      informers.nodes.addHandler({ deleted: trigger }),
      informers.nodeClaims.addHandler({
        added: (claim) => isClaimGoing(claim) && trigger(),
        updated: (claim, old) => isClaimGoing(claim) && !isClaimGoing(old) && trigger(),
        deleted: trigger,
      }),
      ...[...informers.nodeClasses.values()].map((informer) => informer.addHandler(changed())),
    ];
  }
}

/** The claims whose machines go, by UID; only those of these nodes where some are named. */
function goingOf(nodes: readonly StateNode[], names?: ReadonlySet<string | undefined>): string[] {
  return nodes.flatMap((state) =>
    isGoing(state) && state.claim !== undefined && names?.has(state.name) !== false
      ? [state.claim.metadata.uid ?? '']
      : [],
  );
}
