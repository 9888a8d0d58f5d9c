/** After launches that did not help, the next one is a single node, to see whether anything has changed. Pure. */
import type { NewNode } from '../../engine/solution.ts';
import { WHOLE_POOL } from '../../state/planned-for.ts';

/** From this attempt on, a demand gets one node at a time. */
export const SINGLE_FROM = 3;

/** A planned node, and its attempt number for each of its demands. */
export interface Launch {
  readonly node: NewNode;
  readonly attempts: ReadonlyMap<string, number>;
}

/**
 * The nodes that may be launched now. A pool whose machines do not join gets one. A demand with two unused launches gets one, unless its
 * pods share a node with other demands.
 */
export function singleLaunches(
  launches: readonly Launch[],
  isOnTrial: (pool: string) => boolean,
): ReadonlySet<NewNode> {
  const allowed = new Set<NewNode>();
  const pools = new Set<string>();
  const demands = new Set<string>();
  for (const { node, attempts } of launches) {
    const onTrial = isOnTrial(node.pool);
    const tried = [...attempts].flatMap(([demand, attempt]) => (demand !== WHOLE_POOL ? [{ demand, attempt }] : []));
    const isAgain =
      tried.length > 0 && tried.every(({ demand, attempt }) => attempt >= SINGLE_FROM && demands.has(demand));
    if (isAgain || (onTrial && pools.has(node.pool))) continue;
    allowed.add(node);
    pools.add(node.pool);
    for (const { demand, attempt } of tried) if (attempt >= SINGLE_FROM) demands.add(demand);
  }
  return allowed;
}
