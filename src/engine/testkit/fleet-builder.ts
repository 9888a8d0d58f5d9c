/** Fleets for tests: nodes of one pool with pods on them, all of which may be disrupted. */
import { reasonFor } from '../consolidation/disruption-reason.ts';
import type { Fleet, FleetNode, FleetPod } from '../consolidation/fleet.ts';
import type { ConsolidationPlan, Landing, Move } from '../consolidation/plan.ts';
import { aPod, aPool, aType, GIB, HOSTNAME, ZONE } from './builders.ts';
import { aPlan, type StatedNode } from './plan-builder.ts';

/** A node of the type that {@link aType} returns, at 1 USD in zone a. */
export function aFleetNode(name: string, overrides: Partial<FleetNode> = {}): FleetNode {
  const zone = overrides.zone ?? 'a';
  return {
    name,
    pool: 'default',
    labels: { [ZONE]: zone, [HOSTNAME]: name },
    instanceType: 'medium',
    zone,
    capacityType: 'on-demand',
    price: 1,
    allocatable: { cpu: 4000, memory: 8 * GIB, pods: 10 },
    ...overrides,
  };
}

/** A pod of the first group on a node. */
export function aFleetPod(name: string, node: string, overrides: Partial<FleetPod> = {}): FleetPod {
  return { name, node, group: 0, ...overrides };
}

/** Two nodes with a pod each, and no restrictions. */
export function aFleet(overrides: Partial<Fleet> = {}): Fleet {
  return {
    nodes: [aFleetNode('one'), aFleetNode('two')],
    groups: [aPod()],
    pods: [aFleetPod('p1', 'one'), aFleetPod('p2', 'two')],
    poolDisruption: [{ pool: 'default' }],
    pools: [aPool()],
    instanceTypes: [aType()],
    ...overrides,
  };
}

/** A move as a test states it: the removed nodes, where each pod lands, and the launched nodes. */
export interface StatedMove extends Partial<Omit<Move, 'landings' | 'newNodes' | 'nodes'>> {
  readonly nodes: readonly string[];
  /** Pod to node, or to the index of a new node of this move, or of an earlier one: `[move, index]`. */
  readonly landings: Readonly<Record<string, string | number | readonly [move: number, newNode: number]>>;
  readonly buy?: readonly Omit<StatedNode, 'pods'>[];
}

/** Completes a hand-written consolidation plan, so that everything the test does not state is correct. */
export function aConsolidation(
  fleet: Fleet,
  moves: readonly StatedMove[],
  overrides: Partial<ConsolidationPlan> = {},
): ConsolidationPlan {
  const complete = moves.map((_, index) => completeMove(fleet, moves, index));
  const gone = new Set(moves.flatMap(({ nodes }) => nodes));
  const priceBefore = fleet.nodes.reduce((sum, { price }) => sum + price, 0);
  return {
    moves: complete,
    kept: fleet.nodes
      .filter(({ name }) => !gone.has(name))
      .map(({ name }) => ({ node: name, cause: { kind: 'unfinished' }, wouldSave: 0, sentence: '' })),
    priceBefore,
    priceAfter: complete.reduce((sum, { savings }) => sum - savings, priceBefore),
    lowerBound: 0,
    evictions: complete.reduce((sum, { landings }) => sum + landings.length, 0),
    complete: true,
    way: 'exchanges',
    steps: 0,
    ...overrides,
  };
}

function landingsOf({ landings }: StatedMove, index: number): Landing[] {
  return Object.entries(landings).map(([pod, target]): Landing => {
    if (typeof target === 'string') return { pod, node: target };
    const [move, newNode] = typeof target === 'number' ? [index, target] : target;
    return { pod, move, newNode };
  });
}

function completeMove(fleet: Fleet, moves: readonly StatedMove[], index: number): Move {
  const { buy = [], landings: _, ...move } = moves[index]!;
  const landings = landingsOf(moves[index]!, index);
  const numberOf = (name: string) => fleet.pods.findIndex((pod) => pod.name === name);
  // Pods are numbered as in the fleet, each as a group of one.
  const problem = {
    pods: fleet.pods.map(({ group }) => ({ ...fleet.groups[group]!, count: 1 })),
    pools: fleet.pools,
    instanceTypes: fleet.instanceTypes,
  };
  const all = moves.flatMap(landingsOf);
  const newNodes = aPlan(problem, {
    newNodes: buy.map((node, number) => ({
      ...node,
      pods: all
        .filter((one) => 'newNode' in one && one.move === index && one.newNode === number)
        .map(({ pod }) => numberOf(pod)),
    })),
  }).newNodes;
  const before = fleet.nodes.filter(({ name }) => move.nodes.includes(name)).reduce((sum, { price }) => sum + price, 0);
  return {
    kind: 'delete',
    reason: reasonFor(landings.length),
    newNodes,
    landings,
    savings: newNodes.reduce((sum, { price }) => sum - price, before),
    disruptionCost: 1,
    score: 1,
    sentence: '',
    ...move,
  };
}
