/** Plans for fleets, checked by the verifier, and simple fleets. */
import { expect } from 'vitest';
import { aType, GIB, onDemand } from '../../testkit/builders.ts';
import { aFleet, aFleetNode, aFleetPod } from '../../testkit/fleet-builder.ts';
import { verifyConsolidation } from '../../verify/verify-consolidation.ts';
import { consolidate } from '../consolidate.ts';
import type { ConsolidationOptions, Fleet, FleetNode } from '../fleet.ts';
import type { ConsolidationPlan } from '../plan.ts';

/** Plans a fleet and checks the plan with the verifier. */
export function plan(fleet: Fleet, options: ConsolidationOptions = {}): ConsolidationPlan {
  const result = consolidate(fleet, options);
  expect(verifyConsolidation(fleet, result, options)).toEqual([]);
  return result;
}

export function gone(fleet: Fleet, options: ConsolidationOptions = {}): string[] {
  return plan(fleet, options)
    .moves.flatMap(({ nodes }) => nodes)
    .sort();
}

export function causes(fleet: Fleet, options: ConsolidationOptions = {}): Record<string, string> {
  return Object.fromEntries(plan(fleet, options).kept.map(({ node, cause }) => [node, cause.kind]));
}

export const MEDIUM = { cpu: 4000, memory: 8 * GIB, pods: 10 };
export const small = aType({
  name: 'small',
  capacity: { cpu: 2000, memory: 4 * GIB, pods: 10 },
  offerings: onDemand(0.5, 'a', 'b'),
});
export const large = aType({
  name: 'large',
  capacity: { cpu: 8000, memory: 16 * GIB, pods: 20 },
  offerings: onDemand(1.6, 'a'),
});

/** A full node, so that nothing else fits on it. */
export function fullNode(name: string, overrides: Partial<FleetNode> = {}): FleetNode {
  return aFleetNode(name, { allocatable: { ...MEDIUM, cpu: 1000 }, ...overrides });
}

/** Nodes with one pod each and no room for another. */
export function apart(count: number, overrides: Partial<Fleet> = {}, node: Partial<FleetNode> = {}): Fleet {
  const names = Array.from({ length: count }, (_, index) => `n${index}`);
  return aFleet({
    nodes: names.map((name) => fullNode(name, node)),
    pods: names.map((name) => aFleetPod(`on-${name}`, name)),
    ...overrides,
  });
}
