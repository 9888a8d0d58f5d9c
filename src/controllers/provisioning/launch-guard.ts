/**
 * Keeps launches that do not help from being repeated for ever, whatever the cause. A launch helps when a pod that it was planned for
 * comes to its node and runs. Where none does, the next launch for the same demand is planned with what was learnt (`learnt-room.ts`),
 * and from the third on launches are single nodes with growing waits. What is needed to know that is on objects: claims say for which
 * pods they were planned, and pools keep the count when the claims are gone.
 */
import { isTrue } from '../../apis/karpenter/conditions.ts';
import { LABEL_NODE_POOL } from '../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import { NODE_POOLS, type NodePool } from '../../apis/karpenter/node-pool.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { podRequests } from '../../apis/kubernetes/pod-requests.ts';
import { SPINDRIFT_GROUP } from '../../apis/spindrift/group.ts';
import type { Problem, Resources } from '../../engine/problem.ts';
import type { NewNode } from '../../engine/solution.ts';
import { type EpochMs, parseTimestamp } from '../../platform/clock.ts';
import { asError } from '../../platform/errors.ts';
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
import { sayOfPool } from '../nodepool/say-of-pool.ts';
import { launchBackedOff, launchNotUsed } from './events.ts';
import { type LaunchGuardMetrics, launchGuardMetrics } from './launch-guard-metrics.ts';
import { type FutileLaunches, LaunchHistory, nextLaunchAt } from './launch-history.ts';
import { hasFailedAtOnce, hasNeverJoined, hasRun, launchOutcome, madeAt } from './launch-outcome.ts';
import { belongsToNode, planGap, takenByOthers } from './plan-gap.ts';
import { SINGLE_FROM, singleLaunches } from './single-launches.ts';

/** On a pool: launches that have not helped, so that a new process knows of them when their claims are gone. */
export const ANNOTATION_FUTILE_LAUNCHES = `${SPINDRIFT_GROUP}/futile-launches`;
/** On a pool: whether the nodes launched for pods are used by them; said once one is not. */
export const LAUNCHES_HELP = 'LaunchesHelp';

/** Why a launch has not helped. */
export type FutileReason = 'never-joined' | 'unused' | 'pod-failed';

export type LaunchGuardOptions = Pick<
  ControllersOptions,
  'clock' | 'logger' | 'metrics' | 'recorder' | 'state' | 'writes'
>;

/** Pods that wait before another node is launched for them. */
interface Waiting {
  readonly pod: Pod;
  readonly demand: string;
}

interface PoolRecord {
  readonly history: LaunchHistory;
  /** What was last found, for people. */
  why: string;
  /** The generation of the pool that it is about: after a change all begins anew. */
  readonly generation: number;
  /** Claims that were made before say nothing of it. */
  readonly since: EpochMs;
}

export class LaunchGuard {
  readonly #options: LaunchGuardOptions;
  readonly #metrics: LaunchGuardMetrics;
  readonly #records = new Map<string, PoolRecord>();
  /** By the UID of a claim, the demands whose pods have come to its node; those that went again leave no other trace. */
  readonly #reached = new Map<string, Set<string>>();
  /** By demand, what others have on the latest node that was launched for it in vain. */
  readonly #others = new Map<string, Resources>();
  /** Pools of which something is to be written. */
  readonly #unwritten = new Set<string>();
  #changed: () => void = () => {};

  constructor(options: LaunchGuardOptions) {
    this.#options = options;
    this.#metrics = launchGuardMetrics(options.metrics);
  }

  /** Listens until what it gives is called; calls back when something is to be written. */
  follow(changed: () => void): (() => void)[] {
    this.#changed = changed;
    const { pods, nodeClaims, nodePools } = this.#options.state.informers;
    for (const pool of nodePools.list()) this.#recordOf(pool.metadata.name ?? '');
    return [
      pods.addHandler({
        added: (pod) => this.#podSeen(pod),
        updated: (pod, old) => pod !== old && this.#podSeen(pod),
      }),
      nodeClaims.addHandler({
        updated: (claim, old) => {
          if (hasNeverJoined(claim) && !hasNeverJoined(old)) this.#neverJoined(claim);
          if (isTrue(claim, 'Registered') && !isTrue(old, 'Registered')) this.#joined(claim);
        },
        deleted: ({ metadata }) => this.#reached.delete(metadata.uid ?? ''),
      }),
      nodePools.addHandler({
        updated: ({ metadata }) => this.#recordOf(metadata.name ?? ''),
        deleted: ({ metadata }) => this.#records.delete(metadata.name ?? ''),
      }),
    ];
  }

  /** The pods among these that nodes may be launched for now. The others are told what they wait for. */
  admit(pods: readonly Pod[]): Pod[] {
    const { clock } = this.#options;
    const now = clock.now();
    const demands = Map.groupBy(pods, demandOf);
    this.#judge(demands, now);
    const waiting: Waiting[] = [];
    const admitted = pods.filter((pod) => {
      const demand = demandOf(pod);
      if (!this.#waits(demand, now)) return true;
      waiting.push({ pod, demand });
      return false;
    });
    this.#tellWaiting(waiting, now);
    return admitted;
  }

  /** Whether nodes may be launched from a pool at all: not while its nodes do not join, but for one from time to time. */
  launches(pool: string): boolean {
    const futile = this.#recordOf(pool).history.of(WHOLE_POOL);
    if (futile === undefined) return true;
    return nextLaunchAt(futile) <= this.#options.clock.now() && !this.#isComing(WHOLE_POOL, futile.count, pool);
  }

  /** Which pools launch nothing now, in a sentence for the pods that have no place for it; nothing where all do. */
  heldPools(): string {
    const now = this.#options.clock.now();
    return [...this.#records.keys()]
      .filter((pool) => !this.launches(pool))
      .map((pool) => {
        const futile = this.#recordOf(pool).history.of(WHOLE_POOL);
        const waitMs = futile === undefined ? 0 : nextLaunchAt(futile) - now;
        const until = waitMs > 0 ? `for another ${Math.ceil(waitMs / 60_000)}m` : 'until one of them is seen to join';
        return `; NodePool ${pool} launches no more nodes ${until}, as its latest machines never joined the cluster`;
      })
      .join('');
  }

  /** What others took of the node that was last launched for the pod in vain: the next one has room for that as well. */
  roomBeside(pod: Pod): Resources | undefined {
    return this.#others.size === 0 ? undefined : this.#others.get(demandOf(pod));
  }

  /** Those of the planned nodes that are launched now. */
  among(nodes: readonly NewNode[], pods: readonly Pod[]): ReadonlySet<NewNode> {
    const launches = nodes.map((node) => ({ node, attempts: this.#attempts(node, pods) }));
    return singleLaunches(launches, (pool) => this.#recordOf(pool).history.of(WHOLE_POOL) !== undefined);
  }

  /** What is written on the claim of a planned node, so that it can be judged later. */
  annotations(node: NewNode, pods: readonly Pod[], problem: Problem): Readonly<Record<string, string>> {
    return {
      [ANNOTATION_PLANNED_FOR]: writePlannedFor(this.#attempts(node, pods)),
      [ANNOTATION_PLANNED_DAEMONS]: writeDaemons(daemonsOf(node, problem)),
    };
  }

  /** Writes down on pools what is new. */
  async write(signal: AbortSignal): Promise<void> {
    for (const name of [...this.#unwritten]) {
      this.#unwritten.delete(name);
      try {
        await this.#writePool(name, signal);
      } catch (error) {
        if (signal.aborted) return;
        this.#unwritten.add(name);
        this.#options.logger.warn('launches that did not help could not be written on their pool', {
          NodePool: { name },
          error: asError(error),
        });
      }
    }
  }

  #attempts(node: NewNode, pods: readonly Pod[]): PlannedFor {
    const { history } = this.#recordOf(node.pool);
    const demands = new Set(node.pods.map((number) => demandOf(pods[number] as Pod)));
    return new Map([
      // The first time that nodes of a pool do not join is worth a wait already: it is not about one pod.
      [WHOLE_POOL, Math.max(2, history.attempt(WHOLE_POOL))],
      ...[...demands].map((demand): [string, number] => [demand, (this.#futile(demand)?.count ?? 0) + 1]),
    ]);
  }

  /** Finds launches for these demands that have come up and helped none of their pods, and those that have. */
  #judge(demands: ReadonlyMap<string, readonly Pod[]>, now: EpochMs): void {
    const { state } = this.#options;
    for (const { history } of this.#records.values()) history.sweep(now);
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
        // A pod that came later was not waited for.
        const waited = pods.some(
          ({ metadata }) => (parseTimestamp(metadata.creationTimestamp) ?? now) <= madeAt(claim),
        );
        if (outcome !== 'unused' || !waited || this.#reached.get(claim.metadata.uid ?? '')?.has(demand)) continue;
        this.#others.set(demand, takenByOthers(here));
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
    const futile = this.#futile(demand);
    if (futile === undefined || futile.count < SINGLE_FROM - 1) return false;
    return nextLaunchAt(futile) > now || this.#isComing(demand, futile.count);
  }

  /** Whether a launch after so many is still on its way. */
  #isComing(demand: string, after: number, pool?: string): boolean {
    const now = this.#options.clock.now();
    return this.#options.state.nodes().some((state) => {
      const { claim } = state;
      if (claim === undefined || (pool !== undefined && poolOf(state) !== pool)) return false;
      if ((plannedFor(claim).get(demand) ?? 0) <= after || claim.metadata.deletionTimestamp !== undefined) return false;
      return pool === undefined ? launchOutcome(state, demand, [], now) === 'coming' : !isTrue(claim, 'Registered');
    });
  }

  /** What is known of a demand, in whichever pool nodes were launched for it. */
  #futile(demand: string): FutileLaunches | undefined {
    const all = [...this.#records.values()].flatMap(({ history }) => history.of(demand) ?? []);
    return all.toSorted((a, b) => b.count - a.count)[0];
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
    else if (hasFailedAtOnce(pod, this.#options.clock.now()))
      this.#failed(
        demand,
        attempt,
        claim,
        'pod-failed',
        () => `pod ${pod.metadata.name} failed on node ${pod.spec.nodeName} as soon as it ran there: see its log`,
      );
  }

  #neverJoined(claim: NodeClaim): void {
    const { nodeClaims } = this.#options.state.informers;
    const joinedFor = (demand: string): boolean =>
      nodeClaims
        .list()
        .some(
          (other) =>
            plannedFor(other).has(demand) &&
            poolNameOf(other) === poolNameOf(claim) &&
            madeAt(other) >= madeAt(claim) &&
            isTrue(other, 'Registered'),
        );
    const why = (): string => `the machine of NodeClaim ${claim.metadata.name} never joined the cluster as a node`;
    for (const [demand, attempt] of plannedFor(claim))
      if (!joinedFor(demand)) this.#failed(demand, attempt, claim, 'never-joined', why);
  }

  #failed(demand: string, attempt: number, claim: NodeClaim, reason: FutileReason, describe: () => string): void {
    const { clock, logger, recorder } = this.#options;
    const pool = poolNameOf(claim);
    const record = this.#recordOf(pool);
    if (madeAt(claim) < record.since) return;
    if (!record.history.failed(demand, attempt, clock.now(), madeAt(claim))) return;
    record.why = describe();
    this.#isNew(pool);
    if (demand === WHOLE_POOL) return;
    this.#metrics.futile.add({ nodepool: pool, reason });
    recorder.record(launchNotUsed(claim, record.why));
    logger.warn('a node was launched for pods and helped none of them', {
      NodeClaim: { name: claim.metadata.name },
      NodePool: { name: pool },
      launches: attempt,
      why: record.why,
    });
  }

  #helped(demand: string, claim: NodeClaim): void {
    this.#others.delete(demand);
    for (const [name, { history }] of this.#records) {
      if (history.helped(demand, madeAt(claim))) this.#isNew(name);
    }
  }

  /** Nodes of the pool do join. */
  #joined(claim: NodeClaim): void {
    const pool = poolNameOf(claim);
    if (this.#recordOf(pool).history.helped(WHOLE_POOL, madeAt(claim))) this.#isNew(pool);
  }

  #isNew(pool: string): void {
    this.#unwritten.add(pool);
    this.#changed();
  }

  #tellWaiting(waiting: readonly Waiting[], now: EpochMs): void {
    const { recorder } = this.#options;
    this.#metrics.waiting.set({}, waiting.length);
    for (const { pod, demand } of waiting) {
      const futile = this.#futile(demand);
      if (futile === undefined) continue;
      const why = [...this.#records.values()].find(({ history }) => history.of(demand) === futile)?.why ?? '';
      recorder.record(launchBackedOff(pod, futile.count, why, Math.max(0, nextLaunchAt(futile) - now)));
    }
  }

  /** What is known of a pool; what a former process wrote on it is read once, and all is forgotten when the pool is changed. */
  #recordOf(name: string): PoolRecord {
    const known = this.#records.get(name);
    const pool = this.#options.state.informers.nodePools.get(name);
    const generation = pool?.metadata.generation ?? 0;
    if (known !== undefined && known.generation === generation) return known;
    const [written, ...words] = pool?.metadata.annotations?.[ANNOTATION_FUTILE_LAUNCHES]?.split(' ') ?? [];
    const isOfFormer = known !== undefined || (written !== undefined && written !== `${generation}`);
    const since = isOfFormer ? this.#options.clock.now() : (0 as EpochMs);
    const record: PoolRecord = { history: new LaunchHistory(), why: '', generation, since };
    if (written === `${generation}`) record.history.read(words.join(' '));
    this.#records.set(name, record);
    return record;
  }

  async #writePool(name: string, signal: AbortSignal): Promise<void> {
    const { state, writes } = this.#options;
    const pool = writes.newest(state.informers.nodePools.get(name));
    if (pool === undefined || pool.metadata.deletionTimestamp !== undefined) return;
    const { history, why, generation } = this.#recordOf(name);
    const words = history.write();
    const text = words === '' ? null : `${generation} ${words}`;
    const annotated =
      (pool.metadata.annotations?.[ANNOTATION_FUTILE_LAUNCHES] ?? null) === text
        ? pool
        : await writes.patch(
            NODE_POOLS,
            pool,
            { metadata: { annotations: { [ANNOTATION_FUTILE_LAUNCHES]: text } } },
            { signal },
          );
    await this.#sayOf(annotated, text === null ? undefined : why, signal);
  }

  async #sayOf(pool: NodePool, why: string | undefined, signal: AbortSignal): Promise<void> {
    const known = pool.status?.conditions?.some(({ type }) => type === LAUNCHES_HELP) ?? false;
    if (why === undefined && !known) return;
    const change =
      why === undefined
        ? { type: LAUNCHES_HELP, status: 'True' as const }
        : { type: LAUNCHES_HELP, status: 'False' as const, reason: 'NodesNotUsed', message: why.slice(0, 1024) };
    await sayOfPool(this.#options, pool, change, signal);
  }
}

function poolNameOf({ metadata }: NodeClaim): string {
  return metadata.labels?.[LABEL_NODE_POOL] ?? '';
}
