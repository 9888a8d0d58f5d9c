/** Ranks the flavors of a model, and the capacity types each may be launched on. Pure. */
import { CAPACITY_TYPES, type CapacityType, LABEL_CAPACITY_TYPE } from '../apis/karpenter/labels.ts';
import type { Pod } from '../apis/kubernetes/pod.ts';
import { ANNOTATION_FLAVOR_ORDER } from '../apis/spindrift/annotations.ts';
import type { FlavorWeight, SpotPolicy } from '../apis/spindrift/spot-policy.ts';
import { FLAVOR_ORDERS } from '../apis/spindrift/spot-policy-schema.ts';
import type { Alternatives, Requirement } from '../engine/problem.ts';
import type { ReplicaCapacity } from './availability/replica-demand.ts';
import type { PodFlavor } from './model-flavors.ts';

/**
 * `Strict` ranks by flavor alone, `SpotFirst` ranks every flavor on spot before any on demand, `Price` takes the cheapest, `Weight` ranks
 * by the weights of a SpotPolicy.
 */
export type FlavorOrder = (typeof FLAVOR_ORDERS)[number];

/** How SpotPolicies rank flavors. */
export interface FlavorRanking {
  readonly order: FlavorOrder;
  /** For `Weight`; also for pods whose own annotation says so. */
  readonly weights?: readonly FlavorWeight[];
}

export const STRICT: FlavorRanking = { order: 'Strict' };

/** A flavor on some capacity types. */
export interface FlavorChoice {
  readonly flavor: PodFlavor;
  /** Nodes without the label count as on-demand. */
  readonly capacityTypes: readonly CapacityType[];
  /** For `Weight`; 0 if the SpotPolicy has no weight for it. */
  readonly weight?: number;
}

/** Choices of equal rank: price decides among them. */
export type FlavorStep = readonly FlavorChoice[];

/** The ranking of the policy with the highest priority that has a flavorOrder, ties by name; the weights of the first that has weights. */
export function flavorRankingOf(policies: readonly SpotPolicy[]): FlavorRanking {
  const ranking = policies
    .filter(({ spec }) => spec.flavorOrder !== undefined)
    .sort((a, b) => b.spec.priority - a.spec.priority || ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1))
    .map(({ spec }) => spec);
  const weights = ranking.find(({ flavorWeights }) => flavorWeights !== undefined)?.flavorWeights;
  return { order: ranking[0]?.flavorOrder ?? 'Strict', ...(weights && { weights }) };
}

/** The ranking for a pod: its annotation decides before the policies. */
export function podFlavorRanking(
  { metadata }: Pod,
  ofPolicies: FlavorRanking = STRICT,
): FlavorRanking | { readonly problem: string } {
  const own = metadata.annotations?.[ANNOTATION_FLAVOR_ORDER];
  if (own === undefined) return ofPolicies;
  const order = FLAVOR_ORDERS.find((known) => known === own);
  const says = `its annotation ${ANNOTATION_FLAVOR_ORDER} is ${JSON.stringify(own)}`;
  if (order === undefined) return { problem: `${says}: write ${FLAVOR_ORDERS.join(', ')}` };
  if (order === 'Weight' && ofPolicies.weights === undefined)
    return { problem: `${says}, and no SpotPolicy has flavorWeights: add them to one, or write another order` };
  return { ...ofPolicies, order };
}

/** The steps in which a node is looked for, first choice first. */
export function flavorSteps(flavors: readonly PodFlavor[], { order, weights = [] }: FlavorRanking): FlavorStep[] {
  switch (order) {
    case 'Strict':
      return flavors.map((flavor) => [{ flavor, capacityTypes: CAPACITY_TYPES }]);
    case 'Price':
      return flavors.length === 0 ? [] : [flavors.map((flavor) => ({ flavor, capacityTypes: CAPACITY_TYPES }))];
    case 'SpotFirst':
      return [SPOT, ON_DEMAND].flatMap((capacityTypes) => flavors.map((flavor) => [{ flavor, capacityTypes }]));
    case 'Weight':
      return weighted(flavors, weights);
  }
}

/** Highest weight first, ties in the order of the flavors. Choices without a weight are last, in the order of the flavors. */
function weighted(flavors: readonly PodFlavor[], weights: readonly FlavorWeight[]): FlavorStep[] {
  const ranked = flavors.flatMap((flavor) => {
    const own = new Map(weights.flatMap((one) => (one.flavor === flavor.name ? [[one.capacityType, one.weight]] : [])));
    const weightOf = (type: CapacityType): number =>
      own.get(type) ?? (type === 'reserved' ? own.get('spot') : undefined) ?? 0;
    return Array.from(Map.groupBy(CAPACITY_TYPES, weightOf), ([weight, capacityTypes]) => ({
      flavor,
      capacityTypes,
      weight,
    }));
  });
  return ranked.sort((a, b) => b.weight - a.weight).map((choice) => [choice]);
}

/**
 * The steps for a replica whose capacity is already decided. A spot replica waits for spot; an on-demand replica also takes spot if
 * on-demand is sold out.
 */
export function replicaSteps(
  flavors: readonly PodFlavor[],
  ranking: FlavorRanking,
  capacity: ReplicaCapacity,
): FlavorStep[] {
  const all = flavorSteps(
    flavors.length === 0 ? [ANY_NODE] : flavors,
    ranking.order === 'SpotFirst' ? STRICT : ranking,
  );
  const on = (types: readonly CapacityType[]): FlavorStep[] =>
    all
      .map((step) =>
        step.flatMap((choice) => {
          const capacityTypes = choice.capacityTypes.filter((type) => types.includes(type));
          return capacityTypes.length === 0 ? [] : [{ ...choice, capacityTypes }];
        }),
      )
      .filter(({ length }) => length > 0);
  return capacity === 'spot' ? on(SPOT) : [...on(ON_DEMAND), ...on(SPOT)];
}

/** The node requirements of a step: a node must match one of its choices. */
export function stepAlternatives(step: FlavorStep): Alternatives {
  return step.flatMap(({ flavor, capacityTypes }) => {
    const condition = capacityRequirement(capacityTypes);
    return condition === undefined ? flavor.alternatives : flavor.alternatives.map((list) => [...list, condition]);
  });
}

// Reserved capacity is paid for already, so it is as good as spot.
const SPOT: readonly CapacityType[] = ['reserved', 'spot'];
const ON_DEMAND: readonly CapacityType[] = ['on-demand'];
/** Stands for the flavor of replicas that serve no model. */
export const ANY_NODE: PodFlavor = { name: '', alternatives: [[]] };

/** Undefined for all capacity types. */
function capacityRequirement(types: readonly CapacityType[]): Requirement | undefined {
  if (types.length === CAPACITY_TYPES.length) return undefined;
  // Nodes without the label were not launched by us, and count as on-demand.
  return types.includes('on-demand')
    ? { key: LABEL_CAPACITY_TYPE, operator: 'NotIn', values: CAPACITY_TYPES.filter((type) => !types.includes(type)) }
    : { key: LABEL_CAPACITY_TYPE, operator: 'In', values: types };
}
