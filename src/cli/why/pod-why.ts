/** Why a pod has no place, as data: pool by pool, from the same question that provisioning asks. */
import { LABEL_NODE_POOL } from '../../apis/karpenter/labels.ts';
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import { keyOf, keyText } from '../../apis/kubernetes/object.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { ANNOTATION_FLAVORS } from '../../apis/llmaz/labels.ts';
import type { SpotPlanning } from '../../controllers/spot-policy/spot-planning.ts';
import { finish } from '../../engine/packing/work.ts';
import type { Pool, Problem, Requirement } from '../../engine/problem.ts';
import { satisfies } from '../../engine/requirements/label-match.ts';
import type { RankedOffering, UnplacedReason } from '../../engine/solution.ts';
import { solve } from '../../engine/solve.ts';
import type { ReplicaCapacity } from '../../state/availability/replica-demand.ts';
import { type BuiltProblem, buildProblem, type ClusterSnapshot } from '../../state/build-problem.ts';
import { hasEnded } from '../../state/has-ended.ts';
import { modelName, podFlavors } from '../../state/model-flavors.ts';
import { type LoadingTime, loadingTime } from '../../state/model-loading.ts';
import { nothingAllowed } from '../../state/nothing-allowed.ts';

/** What one pool can do for the pod. */
export type PoolWhy =
  | { readonly pool: string; readonly outcome: 'launches'; readonly offering: RankedOffering }
  | {
      readonly pool: string;
      readonly outcome: 'cannot';
      readonly reason: UnplacedReason;
      /** Why it can do nothing for any pod. */
      readonly problem?: string;
    }
  | { readonly pool: string; readonly outcome: 'unusable'; readonly problem: string }
  /** The pod asks for other pools by their names. */
  | { readonly pool: string; readonly outcome: 'unwanted' };

/** Where a pod stands, and what each pool can do for it. */
export interface PodWhy {
  /** `namespace/name`. */
  readonly pod: string;
  /** Where it stands, as the end of «the pod …». */
  readonly standing: string;
  /** Empty when no new node is wanted for it. */
  readonly pools: readonly PoolWhy[];
  /** Where its model has flavors: what there is for each of them, in the order in which they are tried. */
  readonly flavors?: readonly FlavorWhy[];
  /** How long pods of its model take until they serve, where some do. */
  readonly loading?: LoadingTime;
  /** Where its service keeps a number of replicas ready: what this one is to run on. */
  readonly keptOn?: ReplicaCapacity;
}

/** What there is for one flavor of a pod's model. */
export interface FlavorWhy {
  readonly flavor: string;
  /** A node of the flavor that has room. */
  readonly node?: string;
  readonly pools: readonly PoolWhy[];
}

/** A pool that no node can be made from now. */
export interface UnusablePool {
  readonly pool: string;
  readonly problem: string;
}

/** Asks for one pod of a cluster; the snapshot's own pending pods do not matter. */
export function podWhy(
  pod: Pod,
  snapshot: ClusterSnapshot,
  unusable: readonly UnusablePool[],
  spot?: Pick<SpotPlanning, 'settle'>,
): PodWhy {
  const name = keyText(keyOf(pod));
  const settled = settledStanding(pod);
  if (settled !== undefined) return { pod: name, standing: settled, pools: [] };
  const built = buildProblem({ ...snapshot, pending: [pod] });
  const { problem, held } = built;
  if (held[0] !== undefined) return { pod: name, standing: `waits: ${held[0].problem}`, pools: [] };
  const flavors = flavorsWhy(pod, snapshot, spot);
  // A node of a later flavor is no place for it while a pool sells an earlier one.
  const asked = flavors.length === 0 ? { ...problem, pools: [] } : problem;
  const place = solve(asked, { quality: 'fast' }).existing[0]?.node;
  if (place !== undefined) return { pod: name, standing: placeStanding(place, problem), pools: [] };
  const pools: PoolWhy[] = [
    ...problem.pools.map((pool) => poolWhy(pool, built, spot)),
    ...unusable.map((other) => ({ ...other, outcome: 'unusable' as const })),
  ];
  const launches = pools.some(({ outcome }) => outcome === 'launches');
  const standing = launches
    ? 'is pending, and a node can be made for it: that should happen within seconds'
    : pools.length === 0
      ? 'is pending, and there is no NodePool to make a node from'
      : 'is pending, and no pool can make a node for it';
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

/** The question for each flavor of the pod alone. */
function flavorsWhy(
  pod: Pod,
  snapshot: ClusterSnapshot,
  spot: Pick<SpotPlanning, 'settle'> | undefined,
): readonly FlavorWhy[] {
  const found = podFlavors(pod, snapshot.models);
  if ('problem' in found) return [];
  return found.map(({ name }) => {
    const { metadata } = pod;
    const annotations = { ...metadata.annotations, [ANNOTATION_FLAVORS]: name };
    const built = buildProblem({ ...snapshot, pending: [{ ...pod, metadata: { ...metadata, annotations } }] });
    const node = solve({ ...built.problem, pools: [] }, { quality: 'fast' }).existing[0]?.node;
    const pools = built.problem.pools.map((pool) => poolWhy(pool, built, spot));
    return { flavor: name, ...(node === undefined ? {} : { node }), pools };
  });
}

/** Why a pool makes no nodes for pods; undefined when it does. */
export function unusableBecause(pool: NodePool): string | undefined {
  if (pool.metadata.deletionTimestamp !== undefined) return 'is being deleted';
  if (pool.spec.replicas !== undefined) return 'keeps a fixed number of nodes and makes none for pods';
  const ready = pool.status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.status === 'True') return undefined;
  const { reason = '', message = '' } = ready ?? {};
  return ready === undefined
    ? 'was not looked at yet: does the autoscaler run?'
    : `is not ready: ${message || reason || ready.status}`;
}

/** Where a pod stands that no new node is wanted for. */
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
    return 'belongs to a DaemonSet and waits for its own node, so that no other node is made for it';
  if (status?.nominatedNodeName) return `waits for pods of lower priority to leave node ${status.nominatedNodeName}`;
  return undefined;
}

function placeStanding(place: string, { nodes = [] }: Problem): string {
  const node = nodes.find(({ name }) => name === place);
  return node?.inFlight === true
    ? `waits for node ${place}, which is on its way`
    : `fits on node ${place}: the scheduler should put it there soon`;
}

/** The question with this pool alone. */
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

/** Whether some alternative of the pod's conditions lets it be on nodes of a pool of this name. */
function isWanted({ name }: Pool, { pods }: Problem): boolean {
  const alternatives = pods[0]?.requirements ?? [];
  const accepts = (list: readonly Requirement[]): boolean =>
    list.every((requirement) => requirement.key !== LABEL_NODE_POOL || satisfies(requirement, name));
  return alternatives.length === 0 || alternatives.some(accepts);
}
