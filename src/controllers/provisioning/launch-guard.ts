/**
 * Stops launches that do not help from repeating without bound, whatever the cause. A launch helps when a pod that it was planned for
 * runs on its node. If none does, the next launch for the same demand is planned with the room measured on that node
 * (`learnt-room.ts`). From the third attempt on, launches are single nodes with growing waits. All of it survives a restart: claims
 * record the pods they were planned for, and pools keep the count after the claims are gone.
 */
import { conditionOf, isTrue } from '../../apis/karpenter/conditions.ts';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { podRequests } from '../../apis/kubernetes/pod-requests.ts';
import type { Problem, Resources } from '../../engine/problem.ts';
import type { NewNode } from '../../engine/solution.ts';
import { type EpochMs, parseTimestamp } from '../../platform/clock.ts';
import { BY_PROVIDER_ID } from '../../state/cluster-informers.ts';
import { daemonsToCome } from '../../state/daemons-to-come.ts';
import { ANNOTATION_PLANNED_DAEMONS, daemonsOf, writeDaemons } from '../../state/planned-daemons.ts';
import {
  ANNOTATION_PLANNED_FOR,
  demandOf,
  type PlannedFor,
  plannedFor,
  WHOLE_POOL,
  writePlannedFor,
} from '../../state/planned-for.ts';
import { resources } from '../../state/pod-group.ts';
import { isClaimGoing, poolOf, type StateNode } from '../../state/state-node.ts';
import type { ControllersOptions } from '../controllers-options.ts';
import { LIVENESS_LIMITS, type LivenessLimits } from '../nodeclaim/lifecycle/decide-liveness.ts';
import { launchBackedOff, launchNotUsed } from './events.ts';
import { type LaunchGuardMetrics, launchGuardMetrics } from './launch-guard-metrics.ts';
import { nextLaunchAt } from './launch-history.ts';
import { hasFailedAtOnce, hasNeverJoined, hasRun, launchOutcome, madeAt } from './launch-outcome.ts';
import { belongsToNode, planGap, takenByOthers } from './plan-gap.ts';
import { PoolLaunches, poolNameOf } from './pool-launches.ts';
import { SINGLE_FROM, singleLaunches } from './single-launches.ts';

/** Why a launch did not help. */
export type FutileReason = 'never-joined' | 'unused' | 'pod-failed';

export interface LaunchGuardOptions
  extends Pick<ControllersOptions, 'clock' | 'logger' | 'metrics' | 'recorder' | 'state' | 'writes'> {
  /** Timeouts for a claim's launch and registration. */
  readonly limits?: Partial<LivenessLimits>;
}

/**
 * How long the next launch is sized to also fit the pods that took the room of the last one. After that it is planned without them:
 * a pool at its limits may never have room for both.
 */
const ROOM_BESIDE_MS = 10 * 60_000;

/** Pods by their demand. */
type Demands = ReadonlyMap<string, readonly Pod[]>;

export class LaunchGuard {
  readonly #options: LaunchGuardOptions;
  readonly #metrics: LaunchGuardMetrics;
  readonly #limits: LivenessLimits;
  readonly #launches: PoolLaunches;
  /** Demands whose pods have run on the node of a claim, by claim UID. A pod that was deleted since leaves no other trace. */
  readonly #reached = new Map<string, Set<string>>();
  /** By demand: resources that other pods took on its latest unused node, and until when the next launch includes them. */
  readonly #others = new Map<string, { readonly taken: Resources; readonly until: number }>();

  constructor(options: LaunchGuardOptions) {
    this.#options = options;
    this.#metrics = launchGuardMetrics(options.metrics);
    this.#limits = { ...LIVENESS_LIMITS, ...options.limits };
    this.#launches = new PoolLaunches(options);
  }

  /** Follows pods and claims; calls back when `write` has something to do. Call the results to stop. */
  follow(changed: () => void): (() => void)[] {
    const { pods, nodeClaims } = this.#options.state.informers;
    return [
      this.#launches.follow(changed),
      pods.addHandler({ added: (pod) => this.#podSeen(pod), updated: (pod) => this.#podSeen(pod) }),
      nodeClaims.addHandler({
        updated: (claim, old) => {
          const isNew = old.metadata.deletionTimestamp === undefined;
          if (isNew && hasNeverJoined(claim, this.#options.clock.now(), this.#limits)) this.#neverJoined(claim);
          if (isTrue(claim, 'Registered') && !isTrue(old, 'Registered')) this.#launches.joined(claim);
        },
        deleted: ({ metadata }) => this.#reached.delete(metadata.uid ?? ''),
      }),
    ];
  }

  /** Writes changed records to their pools. */
  write(signal: AbortSignal): Promise<void> {
    return this.#launches.write(signal);
  }

  /** The pods that nodes may be launched for now. Records an event on each pod whose launches are backed off. */
  admit(pods: readonly Pod[]): readonly Pod[] {
    const now = this.#options.clock.now();
    const demands = Map.groupBy(pods, demandOf);
    this.#launches.sweep(now);
    this.#judge(demands, now);
    const waiting = new Map([...demands].filter(([demand]) => this.#waits(demand, now)));
    this.#tellWaiting(waiting, now);
    return waiting.size === 0 ? pods : pods.filter((pod) => !waiting.has(demandOf(pod)));
  }

  /**
   * Virtual pods whose launches are backed off, and why: earlier nodes launched for their buffer have room for none of them. `on` gives
   * the virtual pods that a node has room for. A node that real pods use has helped.
   */
  waitingBuffers(pods: readonly Pod[], on: (node: StateNode) => readonly Pod[]): ReadonlyMap<Pod, string> {
    const { clock, state } = this.#options;
    const now = clock.now();
    const demands = Map.groupBy(pods, demandOf);
    if (demands.size > 0) {
      for (const node of state.nodes()) {
        const { claim } = node;
        if (claim === undefined) continue;
        for (const [demand, attempt] of plannedFor(claim)) {
          if (!demands.has(demand)) continue;
          const used = on(node).length > 0 || state.podsOn(node.name).some((pod) => !belongsToNode(pod));
          if (used) this.#helped(demand, claim);
          else if (launchOutcome(node, demand, [], now) === 'unused')
            this.#failed(demand, attempt, claim, 'unused', () => this.#gap(node));
        }
      }
    }
    const waiting = new Map<Pod, string>();
    for (const [demand, own] of demands) {
      if (!this.#waits(demand, now)) continue;
      const { count = 0, why = '' } = this.#launches.futile(demand) ?? {};
      for (const pod of own)
        waiting.set(pod, `nodes were launched ${count} times for it and have no room for it; ${why}`);
    }
    return waiting;
  }

  /** Whether a pool may launch nodes. While its machines do not join, it may launch one at a time, with growing waits. */
  launches(pool: string): boolean {
    const futile = this.#launches.neverJoined(pool);
    if (futile === undefined) return true;
    return nextLaunchAt(futile) <= this.#options.clock.now() && !this.#isComing(WHOLE_POOL, futile.count, pool);
  }

  /** Names the pools that launch nothing now, to append to the reason of an unschedulable pod; empty if all launch. */
  heldPools(): string {
    const now = this.#options.clock.now();
    return [...this.#launches.names()]
      .filter((pool) => !this.launches(pool))
      .map((pool) => {
        const futile = this.#launches.neverJoined(pool);
        const waitMs = futile === undefined ? 0 : nextLaunchAt(futile) - now;
        const until = waitMs > 0 ? `for another ${Math.ceil(waitMs / 60_000)}m` : 'until one of them joins';
        return `; NodePool ${pool} launches no nodes ${until} because its latest machines never joined the cluster`;
      })
      .join('');
  }

  /** Resources that other pods took on the latest unused node of this pod's demand: the next node has room for them too. */
  roomBeside(pod: Pod): Resources | undefined {
    if (this.#others.size === 0) return undefined;
    const others = this.#others.get(demandOf(pod));
    return others === undefined || this.#options.clock.now() >= others.until ? undefined : others.taken;
  }

  /** The planned nodes that may be launched now. */
  among(nodes: readonly NewNode[], pods: readonly Pod[]): ReadonlySet<NewNode> {
    const launches = nodes.map((node) => ({ node, attempts: this.#attempts(node, pods) }));
    return singleLaunches(launches, (pool) => this.#launches.neverJoined(pool) !== undefined);
  }

  /** Annotations of the claim from which the launch is judged later. */
  annotations(node: NewNode, pods: readonly Pod[], problem: Problem): Readonly<Record<string, string>> {
    return {
      [ANNOTATION_PLANNED_FOR]: writePlannedFor(this.#attempts(node, pods)),
      [ANNOTATION_PLANNED_DAEMONS]: writeDaemons(daemonsOf(node, problem)),
    };
  }

  #attempts(node: NewNode, pods: readonly Pod[]): PlannedFor {
    const demands = new Set(node.pods.map((number) => demandOf(pods[number] as Pod)));
    // A pool whose machines do not join waits after the first failure: it concerns more than one pod.
    const ofPool = (this.#launches.neverJoined(node.pool)?.count ?? 1) + 1;
    const ofDemands = [...demands].map((demand) => [demand, (this.#launches.futile(demand)?.count ?? 0) + 1] as const);
    return new Map([[WHOLE_POOL, ofPool] as const, ...ofDemands]);
  }

  /** Records which launches for these demands helped, and which came up unused. */
  #judge(demands: Demands, now: EpochMs): void {
    const { state } = this.#options;
    for (const node of state.nodes()) {
      const { claim } = node;
      if (claim === undefined) continue;
      for (const [demand, attempt] of plannedFor(claim)) {
        const pods = demands.get(demand);
        if (pods === undefined) continue;
        const here = state.podsOn(node.name);
        const outcome = launchOutcome(node, demand, here, now);
        if (outcome === 'helped' && here.some((pod) => demandOf(pod) === demand && hasRun(pod)))
          this.#helped(demand, claim);
        if (outcome !== 'unused' || this.#reached.get(claim.metadata.uid ?? '')?.has(demand)) continue;
        // A pod created after the claim was not what the node was launched for.
        if (!pods.some(({ metadata }) => (parseTimestamp(metadata.creationTimestamp) ?? now) <= madeAt(claim)))
          continue;
        const upSince = parseTimestamp(conditionOf(claim, 'Initialized')?.lastTransitionTime) ?? now;
        this.#others.set(demand, { taken: takenByOthers(here), until: upSince + ROOM_BESIDE_MS });
        this.#failed(demand, attempt, claim, 'unused', () => this.#gap(node));
      }
    }
  }

  #gap(state: StateNode): string {
    const { node, claim, name } = state;
    if (node === undefined || claim === undefined) return '';
    const pods = this.#options.state.podsOn(name);
    const coming = daemonsToCome(state, pods, this.#options.state.daemonSets()).map(({ daemonSet }) =>
      resources(podRequests(daemonSet.spec.template)),
    );
    return `node ${name}: ${planGap({ claim, node, pods, coming })}`;
  }

  #waits(demand: string, now: EpochMs): boolean {
    const futile = this.#launches.futile(demand);
    if (futile === undefined || futile.count < SINGLE_FROM - 1) return false;
    return nextLaunchAt(futile) > now || this.#isComing(demand, futile.count);
  }

  /** Whether a launch after that many unused ones is still starting. */
  #isComing(demand: string, after: number, pool?: string): boolean {
    const now = this.#options.clock.now();
    return this.#options.state.nodes().some((state) => {
      const { claim } = state;
      if (claim === undefined || (pool !== undefined && poolOf(state) !== pool)) return false;
      if ((plannedFor(claim).get(demand) ?? 0) <= after || claim.metadata.deletionTimestamp !== undefined) return false;
      return pool === undefined ? launchOutcome(state, demand, [], now) === 'coming' : !isTrue(claim, 'Registered');
    });
  }

  #podSeen(pod: Pod): void {
    if (!pod.spec.nodeName || belongsToNode(pod)) return;
    const { nodes, nodeClaims } = this.#options.state.informers;
    const providerID = nodes.get(pod.spec.nodeName)?.spec?.providerID ?? '';
    const [claim] = nodeClaims.byIndex(BY_PROVIDER_ID, providerID);
    if (claim === undefined || plannedFor(claim).size === 0 || isClaimGoing(claim)) return;
    const demand = demandOf(pod);
    const attempt = plannedFor(claim).get(demand);
    if (attempt === undefined) return;
    const { uid = '' } = claim.metadata;
    this.#reached.set(uid, (this.#reached.get(uid) ?? new Set()).add(demand));
    if (hasRun(pod)) this.#helped(demand, claim);
    else if (hasFailedAtOnce(pod, this.#options.clock.now())) {
      const why = `pod ${pod.metadata.name} failed on node ${pod.spec.nodeName} as soon as it ran there: see its log`;
      this.#failed(demand, attempt, claim, 'pod-failed', () => why);
    }
  }

  #neverJoined(claim: NodeClaim): void {
    const later = this.#options.state.informers.nodeClaims
      .list()
      .filter((other) => poolNameOf(other) === poolNameOf(claim) && madeAt(other) >= madeAt(claim));
    const joinedFor = (demand: string): boolean =>
      later.some((other) => plannedFor(other).has(demand) && isTrue(other, 'Registered'));
    const why = `the machine of NodeClaim ${claim.metadata.name} never joined the cluster as a node`;
    for (const [demand, attempt] of plannedFor(claim))
      if (!joinedFor(demand)) this.#failed(demand, attempt, claim, 'never-joined', () => why);
  }

  #failed(demand: string, attempt: number, claim: NodeClaim, reason: FutileReason, describe: () => string): void {
    const why = this.#launches.failed(demand, attempt, claim, describe);
    if (why === undefined || demand === WHOLE_POOL) return;
    const nodepool = poolNameOf(claim);
    this.#metrics.futile.add({ nodepool, reason });
    this.#options.recorder.record(launchNotUsed(claim, why));
    this.#options.logger.warn('node was launched for pods, and none of them runs there', {
      ...{ NodeClaim: { name: claim.metadata.name }, NodePool: { name: nodepool } },
      ...{ launches: attempt, why },
    });
  }

  #helped(demand: string, claim: NodeClaim): void {
    this.#others.delete(demand);
    this.#launches.helped(demand, claim);
  }

  #tellWaiting(waiting: Demands, now: EpochMs): void {
    let count = 0;
    for (const [demand, pods] of waiting) {
      const futile = this.#launches.futile(demand);
      if (futile === undefined) continue;
      count += pods.length;
      const waitMs = Math.max(0, nextLaunchAt(futile) - now);
      for (const pod of pods) this.#options.recorder.record(launchBackedOff(pod, futile.count, futile.why, waitMs));
    }
    this.#metrics.waiting.set({}, count);
    for (const demand of this.#others.keys()) {
      if (this.#launches.futile(demand) === undefined) this.#others.delete(demand);
    }
  }
}
