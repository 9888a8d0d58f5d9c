/** Required on-demand nodes that a NodePool loses when nodes are removed. Pure. */
import type { NewNode } from '../../engine/solution.ts';
import { onDemandWanted } from '../../engine/spot/spot-limits.ts';
import type { SpreadGap } from '../../engine/spot/spread-over-spot-pools.ts';
import { isGoing, labelsOf, poolOf, type StateNode } from '../../state/state-node.ts';
import { countFleet } from './count-fleet.ts';
import type { SpotPolicies } from './spot-policies.ts';
import { spotPoolOf } from './spot-pool-of.ts';

/** Nodes being removed, all nodes of the cluster, and the replacements. */
export interface Departure {
  readonly going: readonly StateNode[];
  readonly nodes: readonly StateNode[];
  readonly newNodes: readonly Pick<NewNode, 'pool' | 'offerings'>[];
}

/** The NodePools that would lack more required on-demand nodes than before. */
export function onDemandLost(
  { going, nodes: all, newNodes }: Departure,
  policies: Pick<SpotPolicies, 'for'>,
): SpreadGap[] {
  const pools = new Set(going.filter(isOnDemand).flatMap((node) => poolOf(node) ?? []));
  return [...pools].flatMap((pool): SpreadGap[] => {
    const { limits } = policies.for(pool);
    if (limits.onDemandBase === 0 && limits.onDemandPercent === 0) return [];
    const leave = new Set(going.map(({ name }) => name));
    const staying = all.filter((node) => poolOf(node) === pool && !leave.has(node.name) && !isGoing(node));
    const count = (nodes: readonly StateNode[]) =>
      countFleet(nodes.filter((node) => poolOf(node) === pool)).get(pool) ?? { nodes: 0, onDemand: 0 };
    const missing = (nodes: number, onDemand: number): number => Math.max(0, onDemandWanted(limits, nodes) - onDemand);
    const before = count([...staying, ...going]);
    const left = count(staying);
    const coming = newNodes.filter((node) => node.pool === pool);
    const nodes = left.nodes + coming.length;
    const onDemand = left.onDemand + coming.filter(({ offerings: [first] }) => first?.capacityType !== 'spot').length;
    const short = missing(nodes, onDemand);
    if (short <= missing(before.nodes, before.onDemand)) return [];
    const limit = `${onDemandWanted(limits, nodes)} of the ${nodes} nodes of ${pool} are to be on-demand`;
    const why = 'nodes must be removed, and no on-demand node can be launched for their pods';
    return [{ pool, rule: 'on-demand', limit, sentence: `${limit}, ${short} of them will be missing: ${why}` }];
  });
}

/** Whether SpotPolicies count a node as on-demand; reserved nodes count too. */
export function isOnDemand(node: StateNode): boolean {
  return spotPoolOf(labelsOf(node)) === undefined;
}
