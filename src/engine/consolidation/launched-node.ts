/** Describes a planned node once it runs. */
import { typeLabel } from '../compile/type-label.ts';
import { CAPACITY_TYPE, HOSTNAME, INSTANCE_TYPE, NODE_POOL, ZONE } from '../compile/well-known.ts';
import type { DaemonGroup, InstanceType, Labels, Offering, Pool, Resources } from '../problem.ts';
import { satisfies } from '../requirements/label-match.ts';
import { untolerated } from '../requirements/taints.ts';
import type { Fleet, FleetNode } from './fleet.ts';
import type { MoveNode } from './plan.ts';

/** The node launched from the first offering of a new node. */
export function launchedNode(
  fleet: Pick<Fleet, 'instanceTypes' | 'pools' | 'daemons'>,
  node: MoveNode,
  name: string,
): FleetNode {
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
    [INSTANCE_TYPE]: typeLabel(type),
    [ZONE]: offering.zone,
    [CAPACITY_TYPE]: offering.capacityType,
    ...offering.labels,
    [NODE_POOL]: pool.name,
    [HOSTNAME]: name,
  };
  const all = fleet.daemons ?? [];
  const daemonsToCome = [...all.keys()].filter((number) => runs(all[number] as DaemonGroup, pool, labels));
  const daemons = daemonsToCome.map((number) => all[number] as DaemonGroup);
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
    ...(daemonsToCome.length === 0 ? {} : { daemonsToCome }),
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
