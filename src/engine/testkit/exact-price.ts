import type { PodGroup, Problem } from '../problem.ts';
import { checkDaemons } from '../verify/daemon-rules.ts';
import { checkNode } from '../verify/node-rules.ts';
import type { PlannedNode } from '../verify/planned-node.ts';
import { podsOf } from '../verify/pods.ts';
import { possibleNode } from '../verify/possible-node.ts';

interface Candidate {
  readonly node: PlannedNode;
  readonly price: number;
}

/**
 * The lowest price for all pods of a small problem, found by trying every way to divide them among nodes; undefined if
 * there is none. It ignores topology (daemons aside), limits, slots, existing nodes and open labels: leave them out of the
 * problem.
 */
export function exactPrice(problem: Problem): number | undefined {
  const candidates = problem.pools.flatMap((pool) =>
    problem.instanceTypes.flatMap((type) =>
      type.offerings.flatMap((offering): Candidate[] => {
        const node = possibleNode(problem, pool, type, offering);
        return node === undefined ? [] : [{ node, price: offering.price }];
      }),
    ),
  );
  const pods = podsOf(problem);
  // Caches prices, since partitions share most of their parts.
  const known = new Map<string, number>();
  const priceOf = (numbers: readonly number[]) => {
    const key = numbers.join();
    let price = known.get(key);
    if (price === undefined) {
      const together = numbers.map((number) => pods[number]!);
      price = Math.min(
        ...candidates.filter(({ node }) => holdsAll(problem, node, together)).map((candidate) => candidate.price),
      );
      known.set(key, price);
    }
    return price;
  };
  let best = Number.POSITIVE_INFINITY;
  for (const parts of partitions([...pods.keys()])) {
    best = Math.min(
      best,
      parts.reduce((sum, numbers) => sum + priceOf(numbers), 0),
    );
  }
  return Number.isFinite(best) ? best : undefined;
}

function holdsAll(problem: Problem, node: PlannedNode, pods: readonly PodGroup[]): boolean {
  let broken = false;
  const report = () => {
    broken = true;
  };
  checkNode(node, pods, report);
  checkDaemons(problem, node, pods, report);
  return !broken;
}

/** Every way to divide a list into groups. */
function* partitions<Item>(items: readonly Item[]): Generator<Item[][]> {
  const [first, ...rest] = items;
  if (first === undefined) return yield [];
  for (const groups of partitions(rest)) {
    yield [[first], ...groups];
    for (const [index, group] of groups.entries()) {
      yield groups.map((other, place) => (place === index ? [first, ...group] : other));
    }
  }
}
