/** Problems for tests: each builder fills in defaults for what the test does not state. */
import type { ExistingNode, InstanceType, Offering, PodGroup, Pool, Problem, Requirement } from '../problem.ts';

export const ZONE = 'topology.kubernetes.io/zone';
export const HOSTNAME = 'kubernetes.io/hostname';
export const INSTANCE_TYPE = 'node.kubernetes.io/instance-type';
export const GIB = 1024 ** 3;

/** A pod of 1 vCPU and 1 GiB without constraints. */
export function aPod(overrides: Partial<PodGroup> = {}): PodGroup {
  return { name: 'pod', namespace: 'default', requests: { cpu: 1000, memory: GIB }, ...overrides };
}

/** A pool without requirements. */
export function aPool(overrides: Partial<Pool> = {}): Pool {
  return { name: 'default', ...overrides };
}

/** On-demand offerings of one price in these zones. */
export function onDemand(price: number, ...zones: readonly string[]): Offering[] {
  return zones.map((zone) => ({ zone, capacityType: 'on-demand', price }));
}

/** A type of 4 vCPUs, 8 GiB and 10 pods at 1 USD, on demand in zones a, b and c. */
export function aType(overrides: Partial<InstanceType> = {}): InstanceType {
  return {
    name: 'medium',
    capacity: { cpu: 4000, memory: 8 * GIB, pods: 10 },
    offerings: onDemand(1, 'a', 'b', 'c'),
    ...overrides,
  };
}

/** A node in zone a with 4 vCPUs, 8 GiB and 10 pods free. */
export function aNode(overrides: Partial<ExistingNode> = {}): ExistingNode {
  return {
    name: 'node-1',
    labels: { [ZONE]: 'a' },
    free: { cpu: 4000, memory: 8 * GIB, pods: 10 },
    ...overrides,
  };
}

/** One pod, one pool, one type, and no existing nodes. */
export function aProblem(overrides: Partial<Problem> = {}): Problem {
  return { pods: [aPod()], pools: [aPool()], instanceTypes: [aType()], ...overrides };
}

/** The requirement `key In values`. */
export function oneOf(key: string, ...values: readonly string[]): Requirement {
  return { key, operator: 'In', values };
}
