/** The fleet as it is once moves are done: for planning ahead, for dry runs and for tests. */
import { CAPACITY_TYPE, HOSTNAME, INSTANCE_TYPE, NODE_POOL, ZONE } from '../compile/well-known.ts';
import type { DaemonGroup, InstanceType, Labels, Offering, Pool, Resources } from '../problem.ts';
import { satisfies } from '../requirements/label-match.ts';
import { untolerated } from '../requirements/taints.ts';
import type { Fleet, FleetNode } from './fleet.ts';
import type { Move, MoveNode } from './plan.ts';

/** What has been used up by moves and does not come back by itself. */
export type Spent = 'keep-budgets' | 'spend-budgets';

/** Carries moves out on paper. Budgets are as before, or less what the moves used. */
export function applyMoves(fleet: Fleet, moves: readonly Move[], spent: Spent = 'keep-budgets'): Fleet {
  const gone = new Set(moves.flatMap(({ nodes }) => nodes));
  const target = new Map<string, string>();
  const added: FleetNode[] = [];
  const nameOf = (move: number, place: number): string => `for-${moves[move]?.nodes[0]}-${place}`;
  for (const [number, move] of moves.entries()) {
    move.newNodes.forEach((node, place) => {
      added.push(launched(fleet, node, nameOf(number, place)));
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
    pools: fleet.pools.map((pool) => withUsage(pool, fleet, gone, added)),
    instanceTypes: withSlots(fleet, gone, added),
    ...(spent === 'spend-budgets' ? budgetsLeft(fleet, gone, target) : {}),
  };
}

/** The node that the first offering of a new node gives. */
function launched(fleet: Fleet, node: MoveNode, name: string): FleetNode {
  const [first] = node.offerings;
  const type = fleet.instanceTypes.find((one) => one.name === first?.instanceType) as InstanceType;
  const pool = fleet.pools.find((one) => one.name === node.pool) as Pool;
  const offering = type.offerings.find(
    (one) =>
      one.zone === first?.zone && one.capacityType === first.capacityType && one.reservationId === first.reservationId,
  ) as Offering;
  const settled: Record<string, string> = {};
  for (const { key, operator, values } of node.requirements) {
    if (operator === 'In' && values.length === 1) settled[key] = values[0] as string;
  }
  const labels: Labels = {
    ...settled,
    ...pool.labels,
    ...type.labels,
    [INSTANCE_TYPE]: type.name,
    [ZONE]: offering.zone,
    [CAPACITY_TYPE]: offering.capacityType,
    ...offering.labels,
    [NODE_POOL]: pool.name,
    [HOSTNAME]: name,
  };
  const daemons = (fleet.daemons ?? []).filter((daemon) => runs(daemon, pool, labels));
  return {
    name,
    pool: pool.name,
    labels,
    ...(pool.taints === undefined ? {} : { taints: pool.taints }),
    instanceType: type.name,
    zone: offering.zone,
    capacityType: offering.capacityType,
    ...(offering.reservationId === undefined ? {} : { reservationId: offering.reservationId }),
    price: offering.price,
    allocatable: allocatable(type, daemons),
    ...(type.volumeAttachLimits === undefined ? {} : { volumeAttachLimits: type.volumeAttachLimits }),
    usedHostPorts: daemons.flatMap(({ hostPorts }) => hostPorts ?? []),
  };
}

function runs(daemon: DaemonGroup, pool: Pool, labels: Labels): boolean {
  if (untolerated(pool.taints, daemon.tolerations) !== undefined) return false;
  const alternatives = daemon.requirements ?? [];
  return (
    alternatives.length === 0 ||
    alternatives.some((list) => list.every((requirement) => satisfies(requirement, labels[requirement.key])))
  );
}

function allocatable(type: InstanceType, daemons: readonly DaemonGroup[]): Resources {
  const result: Record<string, number> = {};
  for (const resource in type.capacity) {
    result[resource] = (type.capacity[resource] ?? 0) - (type.overhead?.[resource] ?? 0);
  }
  for (const { requests } of daemons) {
    const taken: Resources = { pods: 1, ...requests };
    for (const resource in taken) result[resource] = (result[resource] ?? 0) - (taken[resource] ?? 0);
  }
  return result;
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

/** What shares one count of slots: a reservation, or else the offering by itself. */
function slotKey(type: string, { reservationId, zone, capacityType }: Omit<Offering, 'price'>): string {
  return reservationId ?? `${type}/${zone}/${capacityType}`;
}

function budgetsLeft(fleet: Fleet, gone: ReadonlySet<string>, moved: ReadonlyMap<string, string>): Partial<Fleet> {
  const used = new Map<number, number>();
  const occupied = new Set(fleet.pods.map(({ node }) => node));
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
      const mine = fleet.nodes.filter(({ name, pool }) => pool === entry.pool && gone.has(name));
      const empty = mine.filter(({ name }) => !occupied.has(name)).length;
      const { Empty, Underutilized } = entry.allowed ?? {};
      return {
        ...entry,
        allowed: {
          ...(Empty === undefined ? {} : { Empty: Empty - empty }),
          ...(Underutilized === undefined ? {} : { Underutilized: Underutilized - (mine.length - empty) }),
        },
      };
    }),
  };
}
