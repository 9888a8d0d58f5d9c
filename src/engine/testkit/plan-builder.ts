import type { Problem } from '../problem.ts';
import type { NewNode, RankedOffering, Solution } from '../solution.ts';

/** A new node as a test states it: by default the first offering of the first type, in the first pool. */
export interface StatedNode extends Partial<NewNode> {
  readonly pods: readonly number[];
  /** Offerings as `type/zone/capacityType[/reservation]`, priced from the catalogue. */
  readonly buy?: readonly string[];
}

/** A plan as a test states it. */
export interface StatedPlan extends Partial<Omit<Solution, 'newNodes' | 'unplaced'>> {
  readonly newNodes?: readonly StatedNode[];
  readonly unplaced?: readonly { readonly group: number; readonly pods: readonly number[] }[];
}

/** Completes a hand-written plan with sums, prices and an order, so that everything the test does not state is correct. */
export function aPlan(problem: Problem, stated: StatedPlan): Solution {
  const newNodes = (stated.newNodes ?? []).map((node) => completeNode(problem, node));
  const existing = stated.existing ?? [];
  const price = newNodes.reduce((sum, node) => sum + node.price, 0);
  return {
    order: [...existing, ...newNodes].flatMap((place) => place.pods).sort((a, b) => a - b),
    price,
    lowerBound: price,
    gap: 0,
    phases: { compile: 0, construct: 0, bound: 0, improve: 0, finish: 0 },
    steps: 0,
    ...stated,
    existing,
    newNodes,
    unplaced: (stated.unplaced ?? []).map((entry) => ({
      ...entry,
      reason: { offerings: 0, funnel: [], nearest: undefined, nodes: 0, nodesRejectedBy: {} },
    })),
  };
}

function completeNode(problem: Problem, { buy, ...stated }: StatedNode): NewNode {
  const [type] = problem.instanceTypes;
  const [first] = type?.offerings ?? [];
  const offerings = (buy ?? [`${type?.name}/${first?.zone}/${first?.capacityType}`]).map((name) =>
    ranked(problem, name),
  );
  const groups = problem.pods.flatMap((group) => Array.from({ length: group.count ?? 1 }, () => group));
  const requests: Record<string, number> = {};
  for (const number of stated.pods) {
    for (const [resource, amount] of Object.entries(groups[number]?.requests ?? {})) {
      requests[resource] = (requests[resource] ?? 0) + amount;
    }
  }
  return {
    pool: problem.pools[0]?.name ?? '',
    requirements: [],
    offerings,
    price: offerings[0]?.price ?? 0,
    requests,
    ...stated,
  };
}

function ranked(problem: Problem, name: string): RankedOffering {
  const [instanceType = '', zone = '', capacityType, reservationId] = name.split('/');
  const offering = problem.instanceTypes
    .find((type) => type.name === instanceType)
    ?.offerings.find(
      (one) => one.zone === zone && one.capacityType === capacityType && one.reservationId === reservationId,
    );
  return {
    instanceType,
    zone,
    capacityType: capacityType as RankedOffering['capacityType'],
    ...(reservationId === undefined ? {} : { reservationId }),
    price: offering?.price ?? 0,
  };
}
