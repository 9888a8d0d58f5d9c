/** In which order the flavors of a model are tried, on which capacity. Pure. */
import { LABEL_CAPACITY_TYPE } from '../apis/karpenter/labels.ts';
import type { Pod } from '../apis/kubernetes/pod.ts';
import { ANNOTATION_FLAVOR_ORDER } from '../apis/spindrift/annotations.ts';
import type { SpotPolicy } from '../apis/spindrift/spot-policy.ts';
import { FLAVOR_ORDERS } from '../apis/spindrift/spot-policy-schema.ts';
import type { Alternatives, Requirement } from '../engine/problem.ts';
import type { ReplicaCapacity } from './availability/replica-demand.ts';
import type { PodFlavor } from './model-flavors.ts';

/** `Strict` goes by the flavors alone, `SpotFirst` tries all of them on spot before any on demand, `Price` takes the cheapest. */
export type FlavorOrder = (typeof FLAVOR_ORDERS)[number];

/** What the policies say: the one of the highest priority that says anything, of equals the first by name. */
export function flavorOrderOf(policies: readonly SpotPolicy[]): FlavorOrder {
  const [first] = policies
    .filter(({ spec }) => spec.flavorOrder !== undefined)
    .sort((a, b) => b.spec.priority - a.spec.priority || ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
  return first?.spec.flavorOrder ?? 'Strict';
}

/** The order for a pod: its own annotation first. */
export function podFlavorOrder(
  { metadata }: Pod,
  ofPolicies: FlavorOrder = 'Strict',
): FlavorOrder | { readonly problem: string } {
  const own = metadata.annotations?.[ANNOTATION_FLAVOR_ORDER];
  if (own === undefined) return ofPolicies;
  const known = FLAVOR_ORDERS.find((order) => order === own);
  return (
    known ?? {
      problem: `its annotation ${ANNOTATION_FLAVOR_ORDER} is ${JSON.stringify(own)}: write ${FLAVOR_ORDERS.join(', ')}`,
    }
  );
}

/** The steps in which nodes are looked for, each with the alternatives that price decides among. */
export function flavorSteps(flavors: readonly PodFlavor[], order: FlavorOrder): readonly Alternatives[] {
  const steps = flavors.map(({ alternatives }) => alternatives);
  switch (order) {
    case 'Strict':
      return steps;
    case 'Price':
      return steps.length === 0 ? [] : [steps.flat()];
    case 'SpotFirst':
      return steps.length < 2 ? steps : [...steps.map(also(NOT_ON_DEMAND)), ...steps.map(also(ON_DEMAND))];
  }
}

/**
 * The same for a replica whose capacity is decided already: one for spot waits for spot, and one that fills in takes spot where on-demand
 * cannot be had.
 */
export function replicaSteps(
  flavors: readonly PodFlavor[],
  order: FlavorOrder,
  capacity: ReplicaCapacity,
): readonly Alternatives[] {
  const steps = flavorSteps(flavors, order === 'SpotFirst' ? 'Strict' : order);
  const all: readonly Alternatives[] = steps.length === 0 ? [[[]]] : steps;
  const spot = all.map(also(NOT_ON_DEMAND));
  return capacity === 'spot' ? spot : [...all.map(also(ON_DEMAND)), ...spot];
}

// What is reserved is paid for already, so it is as good as spot.
const NOT_ON_DEMAND: Requirement = { key: LABEL_CAPACITY_TYPE, operator: 'In', values: ['spot', 'reserved'] };
// Nodes that nobody says it of are others' and there anyway.
const ON_DEMAND: Requirement = { key: LABEL_CAPACITY_TYPE, operator: 'NotIn', values: NOT_ON_DEMAND.values };

function also(condition: Requirement): (alternatives: Alternatives) => Alternatives {
  return (alternatives) => alternatives.map((list) => [...list, condition]);
}
