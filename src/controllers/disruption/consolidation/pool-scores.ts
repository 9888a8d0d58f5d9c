import type { Fleet, FleetNode } from '../../../engine/consolidation/fleet.ts';
import type { Move } from '../../../engine/consolidation/plan.ts';

interface Share {
  price: number;
  disruption: number;
}

/**
 * The score of a move per pool: the share of the pool's price that it saves, divided by the share of the pool that it disrupts. Savings are
 * split over the pools by the price of their nodes.
 */
export function poolScores({ nodes, pods }: Pick<Fleet, 'nodes' | 'pods'>): (move: Move) => Map<string, number> {
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const disruption = new Map(nodes.map(({ name }) => [name, 1]));
  for (const { node, evictionCost = 1 } of pods) {
    disruption.set(node, (disruption.get(node) ?? 0) + Math.max(0, evictionCost));
  }
  const sumOf = (some: readonly FleetNode[]): Map<string, Share> => {
    const sums = new Map<string, Share>();
    for (const { name, pool = '', price } of some) {
      const sum = sums.get(pool) ?? { price: 0, disruption: 0 };
      sums.set(pool, sum);
      sum.price += price;
      sum.disruption += disruption.get(name) ?? 1;
    }
    return sums;
  };
  const totals = sumOf(nodes);
  return ({ nodes: names, savings }) => {
    const shares = sumOf(names.flatMap((name) => byName.get(name) ?? []));
    const price = [...shares.values()].reduce((sum, share) => sum + share.price, 0);
    return new Map(
      [...shares].map(([pool, share]) => {
        const total = totals.get(pool) ?? share;
        const saved = price === 0 || total.price === 0 ? 0 : (savings * (share.price / price)) / total.price;
        return [pool, saved / (share.disruption / total.disruption)];
      }),
    );
  };
}
