/**
 * Finds room for the virtual pods of CapacityBuffers, and launches nodes for the rest. It is the last part of each provisioning round:
 * real pods are placed first, as if there were no buffers, and buffers use the capacity that is left.
 */
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { reasonSentence } from '../../engine/explain/sentence.ts';
import type { NewNode } from '../../engine/solution.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import type { ClusterSnapshot } from '../../state/build-problem.ts';
import type { ClusterState } from '../../state/cluster-state.ts';
import { type Headroom, placeOf } from '../../state/headroom.ts';
import type { Nominations } from '../../state/nominations.ts';
import { CLAIM_PREFIX, type StateNode } from '../../state/state-node.ts';
import type { Successors } from '../../state/successors.ts';
import type { Placement, Solve } from '../disruption/place-elsewhere.ts';
import { isLost } from '../interruption/is-lost.ts';
import type { LaunchGuard } from '../provisioning/launch-guard.ts';
import type { NodeLauncher } from '../provisioning/node-launcher.ts';
import { type IsEvictionBlocked, placelessPods } from '../provisioning/placeless-pods.ts';
import type { PoolsByUse } from '../usable-pools.ts';

export interface BufferRoundOptions {
  readonly clock: Clock;
  readonly state: ClusterState;
  readonly headroom: Headroom;
  readonly nominations: Nominations;
  readonly successors: Successors;
  readonly isEvictionBlocked: IsEvictionBlocked;
  readonly guard: Pick<LaunchGuard, 'launches' | 'waitingBuffers'>;
  readonly launcher: Pick<NodeLauncher, 'launch'>;
  /** Finds any plan: enough if all virtual pods fit on existing nodes. */
  readonly solveFast: Solve;
  /** Finds a cheap plan. */
  readonly solve: Solve;
  readonly logger: Logger;
}

/** Virtual pods by the node or claim that has room for them. */
type Places = Map<string, readonly Pod[]>;

export class BufferRound {
  readonly #options: BufferRoundOptions;
  #waiting = 0;

  constructor(options: BufferRoundOptions) {
    this.#options = options;
  }

  /** Virtual pods without room after the latest round. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Finds room for all present virtual pods. */
  async place(pools: PoolsByUse, signal: AbortSignal): Promise<void> {
    const { headroom, solve, solveFast, guard } = this.#options;
    const pods = headroom.pods();
    this.#waiting = 0;
    if (pods.length === 0) return headroom.place(pods, { placed: new Map(), unplaced: new Map() });
    const snapshot = this.#snapshot(pods, pools);
    const first = await solveFast(snapshot, signal);
    const fits = first.solution.newNodes.length === 0 && first.solution.unplaced.length === 0;
    const found = fits ? first : await solve(snapshot, signal);
    const placed = this.#existing(found, snapshot.nodes);
    const waits = guard.waitingBuffers(
      podsOf(found, found.solution.newNodes),
      (node) => placed.get(placeOf(node)) ?? [],
    );
    const claims = await this.#launch(found, pools, waits, signal);
    const unplaced = whyUnplaced(found);
    for (const [index, node] of found.solution.newNodes.entries()) {
      const claim = claims[index];
      const here = podsOf(found, [node]);
      if (claim !== undefined) placed.set(`${CLAIM_PREFIX}${claim.metadata.name}`, here);
      else for (const pod of here) unplaced.set(pod, waits.get(pod) ?? 'its node could not be launched in this round');
    }
    this.#waiting = unplaced.size;
    headroom.place(pods, { placed, unplaced });
  }

  /** The cluster with all real pods on their present or planned nodes. */
  #snapshot(pods: readonly Pod[], { forPods, withReplicas }: PoolsByUse): ClusterSnapshot {
    const { clock, state, nominations, successors, isEvictionBlocked, guard } = this.#options;
    const nodes = state.nodes();
    const real = placelessPods(state, nodes, { nominations, successors }, isEvictionBlocked);
    const expected = Map.groupBy([...real.pending, ...real.displaced], (pod) => nominations.placeOf(pod));
    return {
      pending: pods,
      nodes,
      podsOn: (node) => [...real.podsOn(node), ...(expected.get(node) ?? [])],
      isLost: (claim: NodeClaim) => isLost(claim, clock.now()),
      launches: (pool) => guard.launches(pool),
      missingFrom: (node: StateNode) => state.room.missingFrom(node),
      daemonSets: state.daemonSets(),
      pools: forPods,
      staticPools: withReplicas,
      namespaces: state.informers.namespaces.list(),
      storage: state.storage,
      models: state.models,
    };
  }

  #existing(found: Found, nodes: readonly StateNode[]): Places {
    const named = new Map(nodes.map((state) => [state.name, state]));
    return new Map(
      found.solution.existing.flatMap(({ node, pods }) => {
        const state = named.get(node);
        return state === undefined ? [] : [[placeOf(state), pods.map((number) => found.built.pods[number] as Pod)]];
      }),
    );
  }

  async #launch(
    found: Found,
    { forPods: pools }: PoolsByUse,
    waits: ReadonlyMap<Pod, string>,
    signal: AbortSignal,
  ): Promise<readonly (NodeClaim | undefined)[]> {
    const { launcher, logger } = this.#options;
    const isHeldBack = (node: NewNode): boolean => podsOf(found, [node]).every((pod) => waits.has(pod));
    const wanted = found.solution.newNodes.filter((node) => !isHeldBack(node));
    if (wanted.length === 0) return [];
    const { claims } = await launcher.launch({ newNodes: wanted, built: found.built, pools }, signal);
    const claimOf = new Map(wanted.map((node, index) => [node, claims[index]]));
    logger.info('launched nodes for capacity buffers', {
      launched: claims.filter((claim) => claim !== undefined).length,
    });
    return found.solution.newNodes.map((node) => claimOf.get(node));
  }
}

type Found = Omit<Placement, 'candidates'>;

function podsOf({ built }: Found, nodes: readonly NewNode[]): Pod[] {
  return nodes.flatMap(({ pods }) => pods.map((number) => built.pods[number] as Pod));
}

function whyUnplaced({ built, solution }: Found): Map<Pod, string> {
  const unplaced = new Map(built.held.map(({ pod, problem }) => [pod, problem]));
  for (const { pods, reason } of solution.unplaced) {
    const why = reasonSentence(reason);
    for (const number of pods) unplaced.set(built.pods[number] as Pod, why);
  }
  return unplaced;
}
