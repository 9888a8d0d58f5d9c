/** Creates NodeClaims for planned nodes, as far as the launch guard and the limits of their pools allow. */
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import type { NewNode } from '../../engine/solution.ts';
import { TroubleLog } from '../../kube/trouble-log.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import type { BuiltProblem } from '../../state/build-problem.ts';
import type { ClusterState } from '../../state/cluster-state.ts';
import type { ComingNodes } from '../../state/coming-nodes.ts';
import type { UsablePool } from '../../state/usable-pool.ts';
import { isLost } from '../interruption/is-lost.ts';
import { PoolLimits } from '../pool-limits.ts';
import type { ClaimWriter } from '../write-claim.ts';
import type { LaunchGuard } from './launch-guard.ts';

export interface NodeLauncherOptions {
  readonly clock: Clock;
  readonly state: ClusterState;
  readonly coming: ComingNodes;
  readonly writer: ClaimWriter;
  readonly guard: Pick<LaunchGuard, 'among' | 'annotations'>;
  readonly logger: Logger;
  /** Called when other writers have used up the limits of a pool, so that pods have to be planned again. */
  outrun(): void;
}

/** The new nodes of a plan. */
export interface PlannedLaunches {
  readonly newNodes: readonly NewNode[];
  readonly built: BuiltProblem;
  readonly pools: readonly UsablePool[];
  /** Called for each claim as soon as it is created, with its planned pods: its machine may join before the last claim is created. */
  written?(claim: NodeClaim, pods: readonly Pod[]): void;
}

/** The created claims. */
export interface Launched {
  /** The claim of each planned node; undefined where none was created. */
  readonly claims: readonly (NodeClaim | undefined)[];
  /** Claims that were allowed, but could not be created. */
  readonly failed: number;
}

/** Yields to the event loop after this many nodes. */
const AT_A_TIME = 50;

export class NodeLauncher {
  readonly #options: NodeLauncherOptions;
  readonly #trouble: TroubleLog;

  constructor(options: NodeLauncherOptions) {
    this.#options = options;
    this.#trouble = new TroubleLog({ clock: options.clock, logger: options.logger });
  }

  async launch(planned: PlannedLaunches, signal: AbortSignal): Promise<Launched> {
    const { newNodes, built, pools } = planned;
    const poolNamed = new Map(pools.map(({ pool }) => [pool.metadata.name ?? '', pool]));
    const helpful = this.#options.guard.among(newNodes, built.pods);
    const allowed = this.#withinLimits([...helpful], pools, built);
    const writes: Promise<NodeClaim | undefined>[] = [];
    for (const node of newNodes) {
      const pool = poolNamed.get(node.pool) as NodePool;
      writes.push(allowed.has(node) ? this.#create(node, pool, planned, signal) : Promise.resolve(undefined));
      // All creates run concurrently, but they need not start in the same turn of the event loop.
      if (writes.length % AT_A_TIME === 0) await this.#options.clock.sleep(0, signal);
    }
    const claims = await Promise.all(writes);
    signal.throwIfAborted();
    return { claims, failed: claims.filter((claim) => claim === undefined).length - (newNodes.length - allowed.size) };
  }

  /**
   * Takes room under the limits of the pools for as many of the nodes as fit. The disruption controller may have created claims while
   * this plan was solved, and may create more before these are written.
   */
  #withinLimits(
    newNodes: readonly NewNode[],
    pools: readonly UsablePool[],
    { cloudName }: BuiltProblem,
  ): ReadonlySet<NewNode> {
    const { clock, coming, state, logger } = this.#options;
    const lost = (claim: NodeClaim): boolean => isLost(claim, clock.now());
    const limits = new PoolLimits({ pools, nodes: state.nodes(), coming, isLost: lost });
    const room = limits.takeEach(newNodes, cloudName);
    if (room.size < newNodes.length) {
      logger.info('NodeClaims not created: the pool limits are used up', { nodes: newNodes.length - room.size });
      this.#options.outrun();
    }
    return room;
  }

  /** A claim that cannot be created does not stop the others; a later round plans its pods again. */
  async #create(
    node: NewNode,
    pool: NodePool,
    { built, written }: PlannedLaunches,
    signal: AbortSignal,
  ): Promise<NodeClaim | undefined> {
    const { cloudName, pods, problem } = built;
    const { guard, writer } = this.#options;
    try {
      const annotations = guard.annotations(node, pods, problem);
      const claim = await writer.write({ node, pool, cloudName, reason: 'provisioned', annotations }, signal);
      written?.(
        claim,
        node.pods.map((number) => pods[number] as Pod),
      );
      return claim;
    } catch (error) {
      if (signal.aborted) return undefined;
      this.#trouble.error('NodeClaim could not be created', error, { NodePool: { name: node.pool } });
      return undefined;
    }
  }
}
