/** What the limits of pools leave for new nodes, at the moment these are to be written. Pure. */
import type { ResourceList } from '../apis/kubernetes/pod.ts';
import { resourceAmounts } from '../apis/kubernetes/pod-requests.ts';
import type { Resources } from '../engine/problem.ts';
import type { NewNode } from '../engine/solution.ts';
import { poolUsage } from '../state/engine-pool.ts';
import { plannedCapacity } from '../state/planned-types.ts';
import { resources } from '../state/pod-group.ts';
import { poolOf, type StateNode } from '../state/state-node.ts';
import type { UsablePool } from '../state/usable-pool.ts';
import type { PlannedNode } from './disruption/commands/command.ts';

interface Room {
  readonly limits: Resources;
  readonly used: Record<string, number>;
  readonly capacityOf: ReadonlyMap<string, Resources>;
}

/** Others may have made nodes since a plan was made: provisioning does not wait for it. */
export class PoolLimits {
  readonly #rooms = new Map<string, Room>();

  constructor(pools: readonly UsablePool[], nodes: readonly StateNode[]) {
    const planned = plannedCapacity(pools);
    for (const { pool, instanceTypes } of pools) {
      const { name = '' } = pool.metadata;
      if (pool.spec.limits === undefined) continue;
      const claims = nodes.flatMap((state) => (state.claim && poolOf(state) === name ? [state.claim] : []));
      this.#rooms.set(name, {
        limits: resources(resourceAmounts(pool.spec.limits as ResourceList)),
        used: { ...poolUsage(claims, planned) },
        capacityOf: new Map(instanceTypes.map((type) => [type.name, type.capacity])),
      });
    }
  }

  /** Takes what the nodes need; gives the pool that has not enough left, and then takes nothing. */
  take(newNodes: readonly Pick<PlannedNode, 'node' | 'cloudName'>[]): string | undefined {
    const wanted = new Map<string, Record<string, number>>();
    for (const { node, cloudName } of newNodes) {
      const room = this.#rooms.get(node.pool);
      const type = node.offerings[0]?.instanceType;
      if (room === undefined || type === undefined) continue;
      const sum = wanted.get(node.pool) ?? { ...room.used };
      for (const [resource, amount] of Object.entries({ nodes: 1, ...room.capacityOf.get(cloudName(type)) }))
        sum[resource] = (sum[resource] ?? 0) + amount;
      if (Object.entries(room.limits).some(([resource, limit]) => (sum[resource] ?? 0) > limit)) return node.pool;
      wanted.set(node.pool, sum);
    }
    for (const [pool, sum] of wanted) Object.assign(this.#rooms.get(pool)?.used ?? {}, sum);
    return undefined;
  }

  /**
   * A node that was taken, without the alternatives that the limits leave no room for: a launch falls back on any of
   * them. What the largest of the others needs is taken as well, so that all nodes may fall back at once.
   */
  narrowed({ node, cloudName }: Pick<PlannedNode, 'node' | 'cloudName'>): NewNode {
    const room = this.#rooms.get(node.pool);
    const [first] = node.offerings;
    if (room === undefined || first === undefined) return node;
    const { limits, used, capacityOf } = room;
    const own = capacityOf.get(cloudName(first.instanceType)) ?? {};
    const resourcesLimited = Object.keys(limits).filter((resource) => resource !== 'nodes');
    const more = (type: string, resource: string): number =>
      (capacityOf.get(cloudName(type))?.[resource] ?? 0) - (own[resource] ?? 0);
    const offerings = node.offerings.filter(({ instanceType }) =>
      resourcesLimited.every(
        (resource) =>
          (used[resource] ?? 0) + more(instanceType, resource) <= Math.max(limits[resource] ?? 0, used[resource] ?? 0),
      ),
    );
    for (const resource of resourcesLimited) {
      const most = Math.max(...offerings.map(({ instanceType }) => more(instanceType, resource)));
      used[resource] = (used[resource] ?? 0) + Math.max(0, most);
    }
    return { ...node, offerings };
  }
}
