/**
 * Which pods a ReplicaSet should delete first when it is scaled down: pods on nodes being removed, then pods on nodes that consolidation
 * would like to empty. A pod that is deleted there need not be evicted later. Pure.
 */
import { isTrue } from '../../apis/karpenter/conditions.ts';
import { NEVER } from '../../apis/karpenter/duration.ts';
import { isStaticPool } from '../../apis/karpenter/is-static-pool.ts';
import { ANNOTATION_DO_NOT_DISRUPT } from '../../apis/karpenter/labels.ts';
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import type { EpochMs } from '../../platform/clock.ts';
import { isReschedulable } from '../../state/cluster-state.ts';
import { doNotDisruptUntil } from '../../state/do-not-disrupt.ts';
import { evictionCost } from '../../state/eviction-cost.ts';
import { isInFlight, isLeaving, poolOf, type StateNode } from '../../state/state-node.ts';

export interface DeletionCostCircumstances {
  readonly now: EpochMs;
  readonly nodes: readonly StateNode[];
  readonly poolNamed: ReadonlyMap<string, NodePool>;
  podsOn(node: string): readonly Pod[];
  /** What a node costs an hour. */
  priceOf(state: StateNode): number;
  /** Disruptions allowed right now, per pool and reason. */
  allowed(pool: string, reason: 'Drifted' | 'Underutilized'): number;
}

/** The lowest possible cost: deleted first. */
export const LEAVING_COST = -(2 ** 31);
/** Most nodes whose pods get a rank. */
export const MOST_RANKED = 50;

/** The deletion cost of each ReplicaSet pod on managed nodes; undefined removes it. */
export function decideDeletionCosts(circumstances: DeletionCostCircumstances): ReadonlyMap<Pod, number | undefined> {
  const { nodes, podsOn } = circumstances;
  const own = nodes.filter(({ claim, node, foreign }) => claim !== undefined && node !== undefined && foreign !== true);
  const leaving = new Set(own.filter(isLeaving));
  const ranks = new Map(
    rankedNodes(
      own.filter((state) => !leaving.has(state)),
      circumstances,
    ).entries(),
  );
  const rankOf = new Map([...ranks].map(([rank, state]) => [state, rank - ranks.size]));
  const costs = new Map<Pod, number | undefined>();
  for (const state of own) {
    const cost = leaving.has(state) ? LEAVING_COST : rankOf.get(state);
    for (const pod of podsOn(state.name)) if (isOfReplicaSet(pod)) costs.set(pod, cost);
  }
  return costs;
}

/** Drifted nodes first, then by hourly price per eviction cost, within the budgets of their pools. */
function rankedNodes(nodes: readonly StateNode[], circumstances: DeletionCostCircumstances): StateNode[] {
  const { podsOn, priceOf, allowed } = circumstances;
  const left = new Map<string, number>();
  const isWithin = (state: StateNode): boolean => {
    const pool = poolOf(state) ?? '';
    const reason = isDrifted(state) ? 'Drifted' : 'Underutilized';
    const room = left.get(`${pool}/${reason}`) ?? allowed(pool, reason);
    left.set(`${pool}/${reason}`, room - 1);
    return room > 0;
  };
  const ratio = (state: StateNode): number =>
    priceOf(state) /
    podsOn(state.name)
      .filter(isReschedulable)
      .reduce((sum, pod) => sum + Math.max(0, evictionCost(pod)), 1);
  return nodes
    .filter((state) => canGo(state, circumstances))
    .map((state) => ({ state, drifted: isDrifted(state), ratio: ratio(state) }))
    .sort(
      (a, b) => Number(b.drifted) - Number(a.drifted) || b.ratio - a.ratio || (a.state.name < b.state.name ? -1 : 1),
    )
    .map(({ state }) => state)
    .filter(isWithin)
    .slice(0, MOST_RANKED);
}

function canGo(state: StateNode, { now, podsOn, poolNamed, priceOf }: DeletionCostCircumstances): boolean {
  const pool = poolNamed.get(poolOf(state) ?? '');
  if (pool === undefined || isStaticPool(pool) || isInFlight(state) || priceOf(state) === 0) return false;
  if (pool.spec.disruption.consolidateAfter === NEVER && !isDrifted(state)) return false;
  const { node, claim } = state;
  if ([node, claim].some((object) => object?.metadata.annotations?.[ANNOTATION_DO_NOT_DISRUPT] === 'true'))
    return false;
  return podsOn(state.name).every((pod) => (doNotDisruptUntil(pod) ?? 0) <= now && isReplaceable(pod));
}

function isDrifted({ claim }: StateNode): boolean {
  return claim !== undefined && isTrue(claim, 'Drifted');
}

/** A pod of any other owner keeps its node, whatever the ReplicaSets delete. */
function isReplaceable({ metadata }: Pod): boolean {
  if (metadata.namespace === 'kube-system') return true;
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  return owner !== undefined && ['ReplicaSet', 'Job', 'DaemonSet', 'Node'].includes(owner.kind);
}

function isOfReplicaSet({ metadata }: Pod): boolean {
  return (
    metadata.ownerReferences?.some(({ controller, kind }) => controller === true && kind === 'ReplicaSet') ?? false
  );
}
