/**
 * Makes nodes for pods that have no place: gathers a batch, takes a snapshot, asks the engine, and writes a claim for each
 * node it wants. What it wrote and why is kept in the decision log.
 */
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { KubeObject } from '../../apis/kubernetes/object.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import type { Clouds } from '../../cloud/clouds.ts';
import type { Solution } from '../../engine/solution.ts';
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
import type { Headroom } from '../../state/headroom.ts';
import type { Nominations } from '../../state/nominations.ts';
import { CLAIM_PREFIX, isClaimGoing, isGoing, type StateNode } from '../../state/state-node.ts';
import { mayBind } from '../../state/steerable.ts';
import type { Successors } from '../../state/successors.ts';
import type { UsablePool } from '../../state/usable-pool.ts';
import { BufferRound } from '../capacity-buffer/buffer-round.ts';
import { engineSolve } from '../disruption/engine-solve.ts';
import { inSlices } from '../in-slices.ts';
import { isLost } from '../interruption/is-lost.ts';
import type { PodMetrics } from '../metrics/pod-metrics.ts';
import type { LivenessLimits } from '../nodeclaim/lifecycle/decide-liveness.ts';
import type { OwnWrites } from '../own-writes.ts';
import type { SpotPlanning } from '../spot-policy/spot-planning.ts';
import { StaticLaunches } from '../static-pool/static-launches.ts';
import { type PoolsByUse, UsablePools } from '../usable-pools.ts';
import { ClaimWriter } from '../write-claim.ts';
import { Batcher, type BatchWindow } from './batcher.ts';
import type { DecisionLog } from './decision-log.ts';
import { foreseeLandings, type Landed } from './foresee-landings.ts';
import { isHeld } from './held-pods.ts';
import { LaterRound } from './later-round.ts';
import { LaunchGuard } from './launch-guard.ts';
import { type ProvisioningMetrics, provisioningMetrics } from './metrics.ts';
import { NodeLauncher } from './node-launcher.ts';
import { type IsHeld, needsRound, placelessPods } from './placeless-pods.ts';
import { RoundLog } from './round-log.ts';
import { RoundTeller } from './round-teller.ts';
import { Rounds } from './rounds.ts';
import { wholeGroups } from './whole-groups.ts';
import { withFlavorLimits } from './with-flavor-limits.ts';

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
  /** The room that CapacityBuffers keep. */
  readonly headroom: Headroom;
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
  readonly #launcher: NodeLauncher;
  /** Keeps static pools at their number of nodes. */
  readonly #static: StaticLaunches;
  /** Keeps room for capacity buffers. */
  readonly #buffers: BufferRound;
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
    this.#guard = new LaunchGuard({ ...options, logger: this.#logger, metrics });
    const launching = { ...options, logger: this.#logger, guard: this.#guard };
    this.#launcher = new NodeLauncher({
      ...launching,
      writer: new ClaimWriter({ client, coming, state, metrics, written: options.written }),
      outrun: () => this.#batcher.trigger(),
    });
    const solve = engineSolve(clock, options.spot, options);
    this.#static = new StaticLaunches({ ...launching, launcher: this.#launcher, solve });
    this.#isHeld = (pod, node) => isHeld(pod, node, (counted) => budgets.of(counted), clock.now());
    this.#buffers = new BufferRound({
      ...launching,
      ...{ launcher: this.#launcher, isHeld: this.#isHeld, solve },
      solveFast: engineSolve(clock, options.spot, options, 'fast'),
    });
    this.#teller = new RoundTeller({ ...options, name: NAME, logger: this.#logger, metrics: this.#metrics });
    this.#batcher = new Batcher({ clock, window: batch });
    this.#later = new LaterRound({ clock, trigger: () => this.#batcher.trigger() });
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, headroom, state } = this.#options;
    const stops = this.#listen();
    try {
      while (!signal.aborted) {
        await this.#batcher.next(signal);
        try {
          const needs = this.#static.isMissingAny || !headroom.isEmpty || needsRound(state, this.#isHeld);
          if (needs) await this.provision(signal);
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
    this.#options.showSold?.([...pools.forPods, ...pools.withReplicas]);
    await this.#static.launch(pools.withReplicas, signal);
    const landed = await this.#plan(pools, signal);
    // Only what is left over when the others are where they will be is planned for again.
    if (landed !== undefined) await this.#plan(pools, signal, landed);
    await this.#buffers.place(pools, signal);
    this.#later.also(this.#buffers.waiting);
    if (this.#buffers.isPutOff) this.#batcher.note();
  }

  /** Plans for all that have no place, and begins that; where some would not find theirs, it says where the others land, and is not over. */
  async #plan(byUse: PoolsByUse, signal: AbortSignal, before?: Landed): Promise<Landed | undefined> {
    const guard = this.#guard;
    const { forPods: pools, withReplicas: staticPools } = byUse;
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
      staticPools,
      namespaces: state.informers.namespaces.list(),
      storage: state.storage,
      models: state.models,
    };
    const whole = withFlavorLimits({ ...snapshot, pending: wholeGroups(snapshot, this.#options) });
    const built = await inSlices(buildProblemSteps(whole), clock, signal);
    const solved = await this.#solve(built, signal);
    const { solution, ...policies } = await inSlices(spot.settle(solved, built), clock, signal);
    const poolNamed = new Map(pools.map(({ pool }) => [pool.metadata.name ?? '', pool]));
    const { claims, failed } = await this.#launcher.launch(
      {
        newNodes: solution.newNodes,
        built,
        pools,
        written: (claim, expected) => {
          this.#options.nominations.nominate(`${CLAIM_PREFIX}${claim.metadata.name}`, expected);
          this.#expectSuccessors(claim, expected);
        },
      },
      signal,
    );
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
    this.#later.ended({
      waiting: state.provisionable().length + withoutPlace + this.#static.short,
      displaced: snapshot.displaced.length,
      unwritten: failed,
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
    const waiting = this.#options.state.provisionable().length + this.#static.short;
    this.#later.ended({ waiting, displaced: going.length });
  }

  #solve(built: BuiltProblem, signal: AbortSignal): Promise<Solution> {
    const { clock, solveMs = 1000, solveSteps: maxSteps = 50_000_000 } = this.#options;
    const startedAt = clock.elapsed();
    const elapsedMs = (): number => clock.elapsed() - startedAt;
    return inSlices(solveSteps(built.problem, { elapsedMs, deadlineMs: solveMs, maxSteps }), clock, signal);
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
    const { headroom, state } = this.#options;
    const { informers } = state;
    const trigger = (): void => this.#batcher.trigger();
    // A pod that has come to a node may have taken room that a buffer keeps.
    const mayUseHeadroom = ({ spec }: Pod, old?: Pod): boolean =>
      !headroom.isEmpty && Boolean(spec.nodeName) && !old?.spec.nodeName;
    const changed = <T extends KubeObject>() => ({ added: trigger, updated: (_: T) => trigger() });
    return [
      ...this.#guard.follow(() => this.#batcher.note()),
      headroom.onPods(trigger),
      informers.pods.addHandler({
        added: (pod) => {
          if (needsPlace(pod)) trigger();
          else if (mayUseHeadroom(pod)) this.#batcher.note();
        },
        // That the scheduler has now looked at a pod which was there before makes no batch larger.
        updated: (pod, old) => {
          if (needsPlace(pod)) needsPlace(old) ? this.#batcher.note() : trigger();
          else if (mayUseHeadroom(pod, old)) this.#batcher.note();
        },
      }),
      informers.nodePools.addHandler(changed()),
      informers.openModels.addHandler({ ...changed(), deleted: trigger }),
      informers.nodeOverlays.addHandler({ ...changed(), deleted: trigger }),
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
