import { isTrue } from '../../../apis/karpenter/conditions.ts';
import { LABEL_INITIALIZED } from '../../../apis/karpenter/labels.ts';
import { isReady } from '../../../state/is-ready.ts';
import { isGoing, poolOf, type StateNode } from '../../../state/state-node.ts';
import type { PoolNodes } from './allowed-disruptions.ts';

/** Counts the nodes of each pool for its budgets: managed, initialized nodes whose machine is not terminating yet. */
export function poolNodes(nodes: readonly StateNode[]): Map<string, PoolNodes> {
  const counts = new Map<string, PoolNodes>();
  for (const state of nodes) {
    const { node, claim } = state;
    const pool = poolOf(state);
    if (node === undefined || claim === undefined || pool === undefined) continue;
    if (node.metadata.labels?.[LABEL_INITIALIZED] !== 'true' || isTrue(claim, 'InstanceTerminating')) continue;
    const { total, going, notReady } = counts.get(pool) ?? { total: 0, going: 0, notReady: 0 };
    const goes = isGoing(state) || isTrue(claim, 'Rebooting');
    counts.set(pool, {
      total: total + 1,
      going: going + (goes ? 1 : 0),
      notReady: notReady + (goes || isReady(node) ? 0 : 1),
    });
  }
  return counts;
}
