/** What the limits of pools leave for new nodes, at the moment these are to be written. */
import type { NodeClaim } from '../apis/karpenter/node-claim.ts';
import type { ResourceList } from '../apis/kubernetes/pod.ts';
import { resourceAmounts } from '../apis/kubernetes/pod-requests.ts';
import type { Resources } from '../engine/problem.ts';
import type { ComingNodes } from '../state/coming-nodes.ts';
import { poolUsage } from '../state/engine-pool.ts';
import { plannedTypes } from '../state/planned-types.ts';
import { resources } from '../state/pod-group.ts';
import { poolOf, type StateNode } from '../state/state-node.ts';
import type { UsablePool } from '../state/usable-pool.ts';
import type { PlannedNode } from './disruption/commands/command.ts';

export interface PoolLimitsOptions {
  readonly pools: readonly UsablePool[];
  readonly nodes: readonly StateNode[];
  /** What others are about to write; what is taken here is added. */
  readonly coming: ComingNodes;
  /** Claims that do not count. */
  isLost?(claim: NodeClaim): boolean;
}

interface Room {
  readonly limits: Resources;
  readonly used: Record<string, number>;
  readonly capacityOf: ReadonlyMap<string, Resources>;
}

/** Two write claims beside each other, those that make room for pods and those that make way for others, and neither waits. */
export class PoolLimits {
  readonly #coming: ComingNodes;
  readonly #rooms = new Map<string, Room>();

  constructor({ pools, nodes, coming, isLost = () => false }: PoolLimitsOptions) {
    this.#coming = coming;
    const planned = plannedTypes(pools);
    for (const { pool, instanceTypes } of pools) {
      const { name = '' } = pool.metadata;
      if (pool.spec.limits === undefined) continue;
      const claims = nodes.flatMap((state) => (state.claim && poolOf(state) === name ? [state.claim] : []));
      this.#rooms.set(name, {
        limits: resources(resourceAmounts(pool.spec.limits as ResourceList)),
        used: {
          ...poolUsage(
            claims.filter((claim) => !isLost(claim)),
            planned,
          ),
        },
        capacityOf: new Map(instanceTypes.map((type) => [type.name, type.capacity])),
      });
    }
    for (const { pool, takes } of coming.list()) add(this.#rooms.get(pool)?.used ?? {}, takes);
  }

  /** Takes what the nodes need, until they are written; gives the pool that has not enough left, and then takes nothing. */
  take(newNodes: readonly Omit<PlannedNode, 'pods'>[]): string | undefined {
    const wanted = new Map<string, Record<string, number>>();
    const taken: [Omit<PlannedNode, 'pods'>, Resources][] = [];
    for (const planned of newNodes) {
      const { pool } = planned.node;
      const room = this.#rooms.get(pool);
      const type = planned.node.offerings[0]?.instanceType;
      if (room === undefined || type === undefined) continue;
      const sum = wanted.get(pool) ?? { ...room.used };
      const takes = { nodes: 1, ...room.capacityOf.get(planned.cloudName(type)) };
      add(sum, takes);
      // Of what it does not have it takes nothing, however little of it is left.
      const over = ([resource, amount]: [string, number]): boolean =>
        amount > 0 && (sum[resource] ?? 0) > (room.limits[resource] ?? Number.POSITIVE_INFINITY);
      if (Object.entries<number>(takes).some(over)) return pool;
      wanted.set(pool, sum);
      taken.push([planned, takes]);
    }
    for (const [pool, sum] of wanted) Object.assign(this.#rooms.get(pool)?.used ?? {}, sum);
    for (const [{ node }, takes] of taken) this.#coming.expect(node, takes);
    return undefined;
  }
}

function add(sum: Record<string, number>, amounts: Resources): void {
  for (const [resource, amount] of Object.entries(amounts)) sum[resource] = (sum[resource] ?? 0) + amount;
}
