/** What the limits of pools leave for new nodes, at the moment these are to be written. Pure. */
import type { ResourceList } from '../../apis/kubernetes/pod.ts';
import { resourceAmounts } from '../../apis/kubernetes/pod-requests.ts';
import type { Resources } from '../../engine/problem.ts';
import { poolUsage } from '../../state/engine-pool.ts';
import { plannedTypes } from '../../state/planned-types.ts';
import { resources } from '../../state/pod-group.ts';
import { poolOf, type StateNode } from '../../state/state-node.ts';
import type { UsablePool } from '../../state/usable-pool.ts';
import type { PlannedNode } from './commands/command.ts';

interface Room {
  readonly limits: Resources;
  readonly used: Record<string, number>;
  readonly capacityOf: ReadonlyMap<string, Resources>;
}

/** Others may have made nodes since a plan was made: provisioning does not wait for it. */
export class PoolLimits {
  readonly #rooms = new Map<string, Room>();

  constructor(pools: readonly UsablePool[], nodes: readonly StateNode[]) {
    const planned = plannedTypes(pools);
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
  take(newNodes: readonly PlannedNode[]): string | undefined {
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
}
