/** Room that the limits of pools leave for new nodes, checked right before their claims are created. */
import type { NodeClaim } from '../apis/karpenter/node-claim.ts';
import type { ResourceList } from '../apis/kubernetes/pod.ts';
import { resourceAmounts } from '../apis/kubernetes/pod-requests.ts';
import type { Resources } from '../engine/problem.ts';
import type { NewNode } from '../engine/solution.ts';
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
  /** Claims that other writers are about to create; nodes taken here are added. */
  readonly coming: ComingNodes;
  /** Claims that do not count against limits. */
  isLost?(claim: NodeClaim): boolean;
}

/** A planned node, and the cloud's names of the instance types in the plan. */
type WantedNode = Pick<PlannedNode, 'node' | 'cloudName'>;

interface Room {
  readonly limits: Resources;
  readonly used: Record<string, number>;
  readonly capacityOf: ReadonlyMap<string, Resources>;
}

/** The provisioner and disruption commands create claims concurrently; both take their room here first. */
export class PoolLimits {
  readonly #options: PoolLimitsOptions;
  /** Room of the pools used so far; undefined for pools without limits. */
  readonly #rooms = new Map<string, Room | undefined>();

  constructor(options: PoolLimitsOptions) {
    this.#options = options;
  }

  /** Takes room for all nodes or none; returns the pool whose limit would be exceeded. */
  take(newNodes: readonly WantedNode[]): string | undefined {
    const wanted = new Map<string, Record<string, number>>();
    const taken: [WantedNode, Resources][] = [];
    for (const planned of newNodes) {
      const { pool } = planned.node;
      const room = this.#roomOf(pool);
      const type = planned.node.offerings[0]?.instanceType;
      if (room === undefined || type === undefined) continue;
      const sum = wanted.get(pool) ?? { ...room.used };
      const takes = { nodes: 1, ...room.capacityOf.get(planned.cloudName(type)) };
      add(sum, takes);
      // A resource that the node does not have cannot exceed its limit.
      const over = ([resource, amount]: [string, number]): boolean =>
        amount > 0 && (sum[resource] ?? 0) > (room.limits[resource] ?? Number.POSITIVE_INFINITY);
      if (Object.entries<number>(takes).some(over)) return pool;
      wanted.set(pool, sum);
      taken.push([planned, takes]);
    }
    for (const [pool, sum] of wanted) Object.assign(this.#rooms.get(pool)?.used ?? {}, sum);
    for (const [{ node }, takes] of taken) this.#options.coming.expect(node, takes);
    return undefined;
  }

  /** Takes room for as many nodes as fit, in their order, and returns them. */
  takeEach(newNodes: readonly NewNode[], cloudName: WantedNode['cloudName']): ReadonlySet<NewNode> {
    return new Set(newNodes.filter((node) => this.take([{ node, cloudName }]) === undefined));
  }

  #roomOf(name: string): Room | undefined {
    if (!this.#rooms.has(name)) this.#rooms.set(name, this.#count(name));
    return this.#rooms.get(name);
  }

  #count(name: string): Room | undefined {
    const { pools, nodes, coming, isLost = () => false } = this.#options;
    const usable = pools.find(({ pool }) => pool.metadata.name === name);
    if (usable?.pool.spec.limits === undefined) return undefined;
    const claims = nodes.flatMap((state) =>
      state.claim !== undefined && poolOf(state) === name && !isLost(state.claim) ? [state.claim] : [],
    );
    const used = { ...poolUsage(claims, plannedTypes([usable])) };
    for (const { pool, takes } of coming.list()) if (pool === name) add(used, takes);
    return {
      limits: resources(resourceAmounts(usable.pool.spec.limits as ResourceList)),
      used,
      capacityOf: new Map(usable.instanceTypes.map((type) => [type.name, type.capacity])),
    };
  }
}

function add(sum: Record<string, number>, amounts: Resources): void {
  for (const [resource, amount] of Object.entries(amounts)) sum[resource] = (sum[resource] ?? 0) + amount;
}
