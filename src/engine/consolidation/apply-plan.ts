/** Computes the fleet after a plan's moves: for planning ahead, dry runs and tests. */
import type { InstanceType, Pool } from '../problem.ts';
import type { Fleet, FleetNode } from './fleet.ts';
import { launchedNode } from './launched-node.ts';
import type { Move } from './plan.ts';
import { slotKey } from './slot-key.ts';

/** Whether the moves use up disruption budgets. */
export type Spent = 'keep-budgets' | 'spend-budgets';

/** Applies moves to a copy of the fleet. Budgets stay as before, or are reduced by the moves. */
export function applyMoves(fleet: Fleet, moves: readonly Move[], spent: Spent = 'keep-budgets'): Fleet {
  const gone = new Set(moves.flatMap(({ nodes }) => nodes));
  const target = new Map<string, string>();
  const added: FleetNode[] = [];
  const nameOf = (move: number, place: number): string => `for-${moves[move]?.nodes[0]}-${place}`;
  for (const [number, move] of moves.entries()) {
    move.newNodes.forEach((node, place) => {
      added.push(launchedNode(fleet, node, nameOf(number, place)));
    });
    for (const landing of move.landings) {
      target.set(landing.pod, 'node' in landing ? landing.node : nameOf(landing.move, landing.newNode));
    }
  }
  const nodes = [...fleet.nodes.filter(({ name }) => !gone.has(name)), ...added];
  return {
    ...fleet,
    nodes,
    pods: fleet.pods.map((pod) => ({ ...pod, node: target.get(pod.name) ?? pod.node })),
    ...(fleet.boundPods === undefined ? {} : { boundPods: fleet.boundPods.filter(({ node }) => !gone.has(node)) }),
    pools: fleet.pools.map((pool) => withUsage(pool, fleet, gone, added)),
    instanceTypes: withSlots(fleet, gone, added),
    ...(spent === 'spend-budgets' ? budgetsLeft(fleet, gone, target) : {}),
  };
}

function withUsage(pool: Pool, fleet: Fleet, gone: ReadonlySet<string>, added: readonly FleetNode[]): Pool {
  if (pool.limits === undefined) return pool;
  const usage: Record<string, number> = { ...pool.usage };
  const count = (node: FleetNode, by: number): void => {
    if (node.pool !== pool.name) return;
    const capacity = fleet.instanceTypes.find(({ name }) => name === node.instanceType)?.capacity ?? {};
    for (const resource in pool.limits) {
      usage[resource] = (usage[resource] ?? 0) + by * (resource === 'nodes' ? 1 : (capacity[resource] ?? 0));
    }
  };
  for (const node of fleet.nodes) if (gone.has(node.name)) count(node, -1);
  for (const node of added) count(node, 1);
  return { ...pool, usage };
}

function withSlots(fleet: Fleet, gone: ReadonlySet<string>, added: readonly FleetNode[]): readonly InstanceType[] {
  const change = new Map<string, number>();
  const count = (node: FleetNode, by: number): void => {
    const key = slotKey(node.instanceType, node);
    change.set(key, (change.get(key) ?? 0) + by);
  };
  for (const node of fleet.nodes) if (gone.has(node.name)) count(node, 1);
  for (const node of added) count(node, -1);
  return fleet.instanceTypes.map((type) => ({
    ...type,
    offerings: type.offerings.map((offering) =>
      offering.slots === undefined
        ? offering
        : { ...offering, slots: offering.slots + (change.get(slotKey(type.name, offering)) ?? 0) },
    ),
  }));
}

function budgetsLeft(fleet: Fleet, gone: ReadonlySet<string>, moved: ReadonlyMap<string, string>): Partial<Fleet> {
  const used = new Map<number, number>();
  for (const { name, disruptionBudgets = [] } of fleet.pods) {
    if (!moved.has(name)) continue;
    for (const budget of disruptionBudgets) used.set(budget, (used.get(budget) ?? 0) + 1);
  }
  return {
    disruptionBudgets: (fleet.disruptionBudgets ?? []).map((budget, index) => ({
      ...budget,
      allowed: budget.allowed - (used.get(index) ?? 0),
    })),
    poolDisruption: fleet.poolDisruption.map((entry) => {
      const taken = fleet.nodes.filter(({ name, pool }) => pool === entry.pool && gone.has(name)).length;
      const { Empty, Underutilized } = entry.allowed ?? {};
      return {
        ...entry,
        allowed: {
          ...(Empty === undefined ? {} : { Empty: Math.max(0, Empty - taken) }),
          ...(Underutilized === undefined ? {} : { Underutilized: Math.max(0, Underutilized - taken) }),
        },
      };
    }),
  };
}
