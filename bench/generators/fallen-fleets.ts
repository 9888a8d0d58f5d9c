/**
 * Fleets whose load has fallen: planned by the engine for many pods, of which few are left. A Deployment that shrinks gives up those pods
 * first that share a node with many of its own, so every node keeps a few pods.
 */
import type { Fleet, FleetNode, FleetPod } from '../../src/engine/consolidation/fleet.ts';
import type { InstanceType, PodGroup } from '../../src/engine/problem.ts';
import type { NewNode, RankedOffering } from '../../src/engine/solution.ts';
import { solve } from '../../src/engine/solve.ts';
import type { Random } from '../../src/platform/random.ts';
import { problemOf, replicasOf } from '../end-to-end/load.ts';
import { toProblem } from '../format/to-problem.ts';
import { proportionalCatalogue } from './catalogues.ts';

const LARGEST_CPU = 32;

/**
 * The services of the end-to-end benchmark on nodes for `before` pods, with `after` of them left. A share of the nodes is held for a
 * moment: pods are on their way to every second of them, and `consolidateAfter` is not over for the others.
 */
export function fallenFleet(before: number, after: number, random: Random, held = 0): Fleet {
  const load = { name: 'fallen', pods: before, largestCpu: LARGEST_CPU };
  const types = proportionalCatalogue(LARGEST_CPU);
  const problem = toProblem(problemOf(before, load, types));
  const { newNodes } = solve(problem);
  const typeNamed = new Map(problem.instanceTypes.map((type) => [type.name, type]));
  const groupOf = problem.pods.flatMap(({ count = 1 }, group) => Array.from({ length: count }, () => group));
  const left = [...replicasOf(after).values()];
  return {
    nodes: withHeld(
      newNodes.map((node, index) => nodeOf(node, index, typeNamed)),
      held,
      random.split('held'),
    ),
    groups: problem.pods,
    pods: problem.pods.flatMap((group, index) => survivors(group, index, left[index] ?? 0, newNodes, groupOf, random)),
    poolDisruption: [{ pool: 'default' }],
    pools: problem.pools,
    instanceTypes: problem.instanceTypes,
  };
}

function withHeld(nodes: readonly FleetNode[], share: number, random: Random): FleetNode[] {
  const drawn = random.shuffle(nodes.map(({ name }) => name)).slice(0, Math.round(share * nodes.length));
  const nominated = new Set(drawn.filter((_, index) => index % 2 === 0));
  return nodes.map((node) => {
    if (!drawn.includes(node.name)) return node;
    if (nominated.has(node.name)) return { ...node, hold: 'nominated', heldBriefly: true, closed: true };
    return { ...node, hold: 'consolidate-after', heldBriefly: true };
  });
}

function survivors(
  { name }: PodGroup,
  group: number,
  count: number,
  nodes: readonly NewNode[],
  groupOf: readonly number[],
  random: Random,
): FleetPod[] {
  const draw = random.split(name);
  const replicas = nodes.flatMap(({ pods }, node) => {
    const own = pods.filter((pod) => groupOf[pod] === group);
    return own.map((pod) => ({ pod, node, beside: own.length, chance: draw.next() }));
  });
  replicas.sort((a, b) => a.beside - b.beside || a.chance - b.chance);
  return replicas
    .slice(0, count)
    .map(({ pod, node }) => ({ name: `${name}-${pod}`, group, node: `node-${node}`, steerable: true }));
}

function nodeOf({ offerings }: NewNode, index: number, typeNamed: ReadonlyMap<string, InstanceType>): FleetNode {
  const { instanceType, zone, capacityType, price } = offerings[0] as RankedOffering;
  const { capacity, overhead = {}, labels = {} } = typeNamed.get(instanceType) as InstanceType;
  const name = `node-${index}`;
  return {
    name,
    pool: 'default',
    labels: {
      ...labels,
      'topology.kubernetes.io/zone': zone,
      'karpenter.sh/capacity-type': capacityType,
      'node.kubernetes.io/instance-type': instanceType,
      'kubernetes.io/hostname': name,
    },
    instanceType,
    zone,
    capacityType,
    price,
    allocatable: Object.fromEntries(
      Object.entries(capacity).map(([resource, amount]) => [resource, amount - (overhead[resource] ?? 0)]),
    ),
  };
}
