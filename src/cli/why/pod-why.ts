/** Explains a pending pod as data, pool by pool, with the solver that provisioning uses. */
import { CAPACITY_TYPES, type CapacityType, LABEL_NODE_POOL } from '../../apis/karpenter/labels.ts';
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import { keyOf, keyText } from '../../apis/kubernetes/object.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { withFlavorLimits } from '../../controllers/provisioning/with-flavor-limits.ts';
import type { SpotPlanning } from '../../controllers/spot-policy/spot-planning.ts';
import { finish } from '../../engine/packing/work.ts';
import type { Pool, Problem, Requirement } from '../../engine/problem.ts';
import { satisfies } from '../../engine/requirements/label-match.ts';
import type { RankedOffering, UnplacedReason } from '../../engine/solution.ts';
import { solve } from '../../engine/solve.ts';
import type { ReplicaCapacity } from '../../state/availability/replica-demand.ts';
import { type BuiltProblem, buildProblem, type ClusterSnapshot } from '../../state/build-problem.ts';
import { hasFlavorLimits, withLimitsOf } from '../../state/flavor-limits.ts';
import { ANY_NODE, stepAlternatives } from '../../state/flavor-order.ts';
import { hasEnded } from '../../state/has-ended.ts';
import { modelName } from '../../state/model-flavors.ts';
import { type LoadingTime, loadingTime } from '../../state/model-loading.ts';
import { heldText } from '../../state/model-locality.ts';
import { nothingAllowed } from '../../state/nothing-allowed.ts';
import { NO_VOLUMES, podGroup } from '../../state/pod-group.ts';
import { podSteps } from '../../state/prepare-pod.ts';

/** Whether one pool can launch a node for the pod. */
export type PoolWhy =
  | { readonly pool: string; readonly outcome: 'launches'; readonly offering: RankedOffering }
  | {
      readonly pool: string;
      readonly outcome: 'cannot';
      readonly reason: UnplacedReason;
      /** Why it can launch nothing for any pod. */
      readonly problem?: string;
    }
  | { readonly pool: string; readonly outcome: 'unusable'; readonly problem: string }
  /** The pod selects other pools by name. */
  | { readonly pool: string; readonly outcome: 'unwanted' };

/** The state of a pod, and the answer of each pool. */
export interface PodWhy {
  /** `namespace/name`. */
  readonly pod: string;
  /** Its state, as the end of a sentence «Pod web-1 …». */
  readonly standing: string;
  /** Empty when it needs no new node. */
  readonly pools: readonly PoolWhy[];
  /** The answer for each flavor of its model, in the order of preference; absent without flavors. */
  readonly flavors?: readonly FlavorWhy[];
  /** How long pods of its model take until they are ready, where some are. */
  readonly loading?: LoadingTime;
  /** The capacity type for this pod, where its workload has the ready-replicas annotation. */
  readonly keptOn?: ReplicaCapacity;
}

/** The answer for one flavor of a pod's model, on some capacity types. */
export interface FlavorWhy {
  readonly flavor: string;
  /** Absent where any will do. */
  readonly capacityTypes?: readonly CapacityType[];
  /** Where a SpotPolicy ranks by weights; 0 without one. */
  readonly weight?: number;
  /** Its rank, from 1. */
  readonly rank: number;
  readonly ranks: number;
  /** How many have the same rank; the cheapest of them is used. */
  readonly equals: number;
  /** A node of the flavor that has room. */
  readonly node?: string;
  readonly pools: readonly PoolWhy[];
}

/** A pool that cannot launch nodes now. */
export interface UnusablePool {
  readonly pool: string;
  readonly problem: string;
}

/** Explains one pod; the snapshot's own pending pods do not matter. */
export function podWhy(
  pod: Pod,
  snapshot: ClusterSnapshot,
  unusable: readonly UnusablePool[],
  spot?: Pick<SpotPlanning, 'settle'>,
): PodWhy {
  const name = keyText(keyOf(pod));
  const settled = settledStanding(pod);
  if (settled !== undefined) return { pod: name, standing: settled, pools: [] };
  const built = buildProblem(withFlavorLimits({ ...snapshot, pending: [pod] }));
  const { problem, held } = built;
  if (held[0] !== undefined) return { pod: name, standing: `waits: ${held[0].problem}`, pools: [] };
  const flavors = flavorsWhy(pod, built, snapshot, spot);
  // A node of a later flavor does not count while a pool can launch an earlier one.
  const asked = flavors.length === 0 ? { ...problem, pools: [] } : problem;
  const place = solve(asked, { quality: 'fast' }).existing[0]?.node;
  if (place !== undefined) return { pod: name, standing: placeStanding(place, problem), pools: [] };
  const pools: PoolWhy[] = [
    ...problem.pools.map((pool) => poolWhy(pool, built, spot)),
    ...unusable.map((other) => ({ ...other, outcome: 'unusable' as const })),
  ];
  const launches = pools.some(({ outcome }) => outcome === 'launches');
  const standing = launches
    ? 'is pending; a node for it should be launched within seconds'
    : pools.length === 0
      ? 'is pending, and there is no NodePool to launch a node from'
      : 'is pending, and no pool can launch a node for it';
  const model = modelName(pod);
  const loading = model === undefined ? undefined : loadingTime(model, podsOf(snapshot));
  const keptOn = snapshot.models?.capacity?.(pod);
  return {
    ...{ pod: name, standing, pools },
    ...(flavors.length === 0 ? {} : { flavors }),
    ...(loading && { loading }),
    ...(keptOn && { keptOn }),
  };
}

function* podsOf({ nodes, podsOn }: ClusterSnapshot): Generator<Pod> {
  for (const { name } of nodes) yield* podsOn(name);
}

/** Asks the solver for each flavor of the pod alone, on the capacity types of its rank. */
function flavorsWhy(
  pod: Pod,
  built: BuiltProblem,
  { models }: ClusterSnapshot,
  spot: Pick<SpotPlanning, 'settle'> | undefined,
): readonly FlavorWhy[] {
  const steps = podSteps(pod, models);
  const [asked] = built.problem.pods;
  if ('problem' in steps || asked === undefined) return [];
  const { ordered: _, stepSizes: __, requirements: ___, count: ____, ...group } = asked;
  return steps.flatMap((step, index) =>
    step.flatMap((choice): readonly FlavorWhy[] => {
      const { flavor, capacityTypes, weight } = choice;
      if (flavor === ANY_NODE) return [];
      const sized = hasFlavorLimits(pod) ? withLimitsOf(pod, flavor) : pod;
      const { requirements, requests } = podGroup(sized, { volumes: NO_VOLUMES, steps: [stepAlternatives([choice])] });
      const problem = { ...built.problem, pods: [{ ...group, requests, ...(requirements && { requirements }) }] };
      const node = solve({ ...problem, pools: [] }, { quality: 'fast' }).existing[0]?.node;
      return [
        {
          flavor: flavor.name,
          ...(capacityTypes.length < CAPACITY_TYPES.length && { capacityTypes }),
          ...(weight !== undefined && { weight }),
          ...{ rank: index + 1, ranks: steps.length, equals: step.length },
          ...(node !== undefined && { node }),
          pools: problem.pools.map((pool) => poolWhy(pool, { ...built, problem }, spot)),
        },
      ];
    }),
  );
}

/** Why a pool launches no nodes for pods; undefined when it does. */
export function unusableBecause(pool: NodePool): string | undefined {
  if (pool.metadata.deletionTimestamp !== undefined) return 'is being deleted';
  if (pool.spec.replicas !== undefined) return 'has spec.replicas, so that it launches no nodes for pods';
  const ready = pool.status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.status === 'True') return undefined;
  const { reason = '', message = '' } = ready ?? {};
  return ready === undefined
    ? 'has no Ready condition yet: check that the autoscaler runs'
    : `is not ready: ${message || reason || ready.status}`;
}

/** The state of a pod that needs no new node. */
function settledStanding({ spec, status, metadata }: Pod): string | undefined {
  if (hasEnded({ apiVersion: 'v1', kind: 'Pod', metadata, spec, ...(status && { status }) }))
    return `has ended (${status?.phase})`;
  if (metadata.deletionTimestamp !== undefined) return 'is being deleted';
  if (spec.nodeName) {
    const phase = status?.phase === 'Running' ? 'runs' : 'starts';
    return `${phase} on node ${spec.nodeName}: spindrift why node/${spec.nodeName} says why there`;
  }
  const gates = spec.schedulingGates ?? [];
  if (gates.length > 0) return `waits for its scheduling gates: ${gates.map(({ name }) => name).join(', ')}`;
  if (metadata.ownerReferences?.some(({ kind }) => kind === 'DaemonSet'))
    return 'belongs to a DaemonSet and waits for its own node, so that no node is launched for it';
  if (status?.nominatedNodeName)
    return `waits for the scheduler to preempt pods of lower priority on node ${status.nominatedNodeName}`;
  return undefined;
}

function placeStanding(place: string, { nodes = [], pods }: Problem): string {
  const node = nodes.find(({ name }) => name === place);
  if (node?.inFlight === true) return `waits for node ${place}, which is starting`;
  const held = node && heldText(node, pods[0]?.preferredNodes);
  return held
    ? `fits on node ${place}, which holds ${held}: the scheduler should bind it soon`
    : `fits on node ${place}: the scheduler should bind it soon`;
}

/** Asks the solver with this pool alone. */
function poolWhy(pool: Pool, built: BuiltProblem, spot: Pick<SpotPlanning, 'settle'> | undefined): PoolWhy {
  if (!isWanted(pool, built.problem)) return { pool: pool.name, outcome: 'unwanted' };
  const { problem, cloudName } = built;
  const sold = new Set(pool.instanceTypes);
  const instanceTypes = problem.instanceTypes.filter(({ name }) => pool.instanceTypes === undefined || sold.has(name));
  const solution = solve({ ...problem, pools: [pool], instanceTypes }, { quality: 'fast' });
  const { newNodes, unplaced } = spot === undefined ? solution : finish(spot.settle(solution, built)).solution;
  const offering = newNodes[0]?.offerings[0];
  if (offering !== undefined) {
    return {
      pool: pool.name,
      outcome: 'launches',
      offering: { ...offering, instanceType: cloudName(offering.instanceType) },
    };
  }
  const reason = unplaced[0]?.reason ?? { offerings: 0, funnel: [], nearest: undefined, nodes: 0, nodesRejectedBy: {} };
  const usable = built.snapshot.pools.find((one) => one.pool.metadata.name === pool.name);
  const barren = usable && nothingAllowed(usable.pool, usable.instanceTypes);
  return { pool: pool.name, outcome: 'cannot', reason, ...(barren === undefined ? {} : { problem: barren }) };
}

/** Whether some node affinity term of the pod allows a pool of this name. */
function isWanted({ name }: Pool, { pods }: Problem): boolean {
  const alternatives = pods[0]?.requirements ?? [];
  const accepts = (list: readonly Requirement[]): boolean =>
    list.every((requirement) => requirement.key !== LABEL_NODE_POOL || satisfies(requirement, name));
  return alternatives.length === 0 || alternatives.some(accepts);
}
