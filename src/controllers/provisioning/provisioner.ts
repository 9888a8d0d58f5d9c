/**
 * Launches nodes for unschedulable pods: gathers a batch, takes a snapshot, asks the engine for a plan, and creates a NodeClaim for each
 * new node. The decision log keeps the plans and their reasons.
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
import { isEvictionBlocked } from './eviction-blocked.ts';
import { LaterRound } from './later-round.ts';
import { LaunchGuard } from './launch-guard.ts';
import { type ProvisioningMetrics, provisioningMetrics } from './metrics.ts';
import { NodeLauncher } from './node-launcher.ts';
import { type IsEvictionBlocked, needsRound, placelessPods } from './placeless-pods.ts';
import { type PredictedPlacements, predictPlacements } from './predict-placements.ts';
import { RoundLog } from './round-log.ts';
import { RoundTeller } from './round-teller.ts';
import { Rounds } from './rounds.ts';
import { wholeGroups, wholeMoves } from './whole-groups.ts';
import { withFlavorLimits } from './with-flavor-limits.ts';

/** Time limits of a provisioning round. */
export interface ProvisionerLimits {
  /** How long pods are gathered; read for every batch, so it may change. */
  readonly batch?: BatchWindow;
  /** How long the engine may improve a plan. */
  readonly solveMs?: number;
  /** How many steps it may take for that: on a virtual clock no time passes while it works. */
  readonly solveSteps?: number;
  /** How long a cloud may take to list its instance types before the round skips its pools. */
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
  /** Timeouts for a claim's launch and registration. */
  readonly limits?: Partial<LivenessLimits>;
  /** Called for each created claim. */
  readonly written?: (claim: NodeClaim) => void;
  readonly coming: ComingNodes;
  /** The room that CapacityBuffers keep. */
  readonly headroom: Headroom;
  readonly nominations: Nominations;
  readonly successors: Successors;
  readonly budgets: Pick<DisruptionBudgets, 'of'>;
  /** Applies interruption risk and SpotPolicies to plans. */
  readonly spot: SpotPlanning;
  readonly podMetrics?: Pick<PodMetrics, 'decided'>;
  /** Called with the offerings of each round, for metrics. */
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
  /** Launches missing nodes of static pools. */
  readonly #static: StaticLaunches;
  /** Finds or launches room for CapacityBuffers. */
  readonly #buffers: BufferRound;
  readonly #teller: RoundTeller;
  /** Backs off launches that do not help. */
  readonly #guard: LaunchGuard;
  readonly #isEvictionBlocked: IsEvictionBlocked;

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
    this.#isEvictionBlocked = (pod, node) =>
      isEvictionBlocked(pod, node, (counted) => budgets.of(counted), clock.now());
    this.#buffers = new BufferRound({
      ...launching,
      ...{ launcher: this.#launcher, isEvictionBlocked: this.#isEvictionBlocked, solve },
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
          const needs = this.#static.missing > 0 || !headroom.isEmpty || needsRound(state, this.#isEvictionBlocked);
          if (needs) await this.provision(signal);
          else {
            this.#guard.admit([]);
            this.#nothingToPlan(state.nodes());
          }
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

  /** Triggers a round almost at once: a node is interrupted, and its pods need replacement capacity. */
  hurry(): void {
    this.#batcher.hurry();
  }

  /** One round: static pools, then pending pods and pods of nodes being removed, then CapacityBuffers. */
  async provision(signal: AbortSignal): Promise<void> {
    const pools = await this.#pools.read(signal);
    this.#options.showSold?.([...pools.forPods, ...pools.withReplicas]);
    await this.#static.launch(pools.withReplicas, signal);
    const predicted = await this.#plan(pools, signal);
    // Plans again for the pods that are left when the predicted placements are taken.
    if (predicted !== undefined) await this.#plan(pools, signal, predicted);
    await this.#buffers.place(pools, signal);
    this.#later.also(this.#buffers.waiting);
  }

  /** Plans for all pods without room and launches nodes. If some would not find their planned room, returns the predicted placements for a second plan. */
  async #plan(
    byUse: PoolsByUse,
    signal: AbortSignal,
    before?: PredictedPlacements,
  ): Promise<PredictedPlacements | undefined> {
    const guard = this.#guard;
    const { forPods: pools, withReplicas: staticPools } = byUse;
    const { state, clock, decisions, spot } = this.#options;
    const startedAt = clock.elapsed();
    // Read in one moment: pods come and go while the problem is built.
    const nodes = state.nodes();
    const placeless = placelessPods(state, nodes, this.#options, this.#isEvictionBlocked, before);
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
    const whole = wholeGroups(wholeMoves(withFlavorLimits(snapshot)), this.#options);
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
    const predicted = before ?? (await inSlices(predictPlacements(built, solution), clock, signal));
    const isOver = predicted === before;
    if (isOver) {
      const left = unwritten.flatMap((node) => node.pods.map((number) => built.pods[number] as Pod));
      this.rounds.ended(goingOf(nodes), goingOf(nodes, new Set(left.map(({ spec }) => spec.nodeName))));
    }
    const { snapshot: _, ...question } = built;
    decisions.add({ at: clock.now(), built: question, solution, claims, policies });
    const withoutPlace = solution.unplaced.reduce((sum, { pods }) => sum + pods.length, 0);
    this.#later.ended({
      waiting: state.provisionable().length + withoutPlace + this.#static.missing,
      displaced: snapshot.displaced.length,
      unwritten: failed,
    });
    const seconds = (clock.elapsed() - startedAt) / 1000;
    this.#metrics.duration.observe({ controller: NAME }, seconds);
    this.#roundLog.tell(built, solution, seconds);
    return isOver ? undefined : predicted;
  }

  /** Every pod has a node, or room reserved on one. */
  #nothingToPlan(nodes: readonly StateNode[]): void {
    this.#teller.nothingToPlan();
    const going = goingOf(nodes);
    this.rounds.ended(going);
    const waiting = this.#options.state.provisionable().length + this.#static.missing;
    this.#later.ended({ waiting, displaced: going.length });
  }

  #solve(built: BuiltProblem, signal: AbortSignal): Promise<Solution> {
    const { clock, solveMs = 1000, solveSteps: maxSteps = 50_000_000 } = this.#options;
    const startedAt = clock.elapsed();
    const elapsedMs = (): number => clock.elapsed() - startedAt;
    return inSlices(solveSteps(built.problem, { elapsedMs, deadlineMs: solveMs, maxSteps }), clock, signal);
  }

  /** Reserves room for the replacements of displaced pods, if Spindrift can bind all pods of the node itself. */
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

  /** Triggers rounds on changes of pods, pools, and nodes being removed. */
  #listen(): (() => void)[] {
    const { headroom, state } = this.#options;
    const { informers } = state;
    const trigger = (): void => this.#batcher.trigger();
    // A pod bound to a node may have taken the room of a buffer.
    const mayUseHeadroom = ({ spec }: Pod, old?: Pod): boolean =>
      !headroom.isEmpty && Boolean(spec.nodeName) && !old?.spec.nodeName;
    // A pending pod that is deleted is no longer counted as unschedulable, and frees the room planned for it.
    const hasLeft = ({ spec }: Pod, old: Pod): boolean => needsPlace(old) && !spec.nodeName;
    const changed = <T extends KubeObject>() => ({ added: trigger, updated: (_: T) => trigger() });
    return [
      ...this.#guard.follow(() => this.#batcher.note()),
      headroom.onPods(trigger),
      informers.pods.addHandler({
        added: (pod) => {
          if (needsPlace(pod)) trigger();
          else if (mayUseHeadroom(pod)) this.#batcher.note();
        },
        // A known pod that the scheduler has now found unschedulable does not extend a batch.
        updated: (pod, old) => {
          if (needsPlace(pod)) needsPlace(old) ? this.#batcher.note() : trigger();
          else if (mayUseHeadroom(pod, old) || hasLeft(pod, old)) this.#batcher.note();
        },
        deleted: (pod) => {
          if (!pod.spec.nodeName) this.#batcher.note();
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

/** UIDs of claims being removed; with `names`, only those of these nodes. */
function goingOf(nodes: readonly StateNode[], names?: ReadonlySet<string | undefined>): string[] {
  return nodes.flatMap((state) =>
    isGoing(state) && state.claim !== undefined && names?.has(state.name) !== false
      ? [state.claim.metadata.uid ?? '']
      : [],
  );
}
