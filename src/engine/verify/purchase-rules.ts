/** Rules for launches: offerings exist at their price, are allowed by the pool, and stay within slots and limits. */
import type { PodGroup, Pool, Problem } from '../problem.ts';
import type { NewNode, Solution } from '../solution.ts';
import { checkDaemons } from './daemon-rules.ts';
import { type Found, type Market, nameOf, slotKey } from './market.ts';
import { checkNode, totalRequests } from './node-rules.ts';
import { certain, newNode, openValues, type PlannedNode } from './planned-node.ts';
import type { Report } from './violation.ts';

/** A launch of the plan with everything it refers to. */
export interface Bought {
  readonly plan: NewNode;
  readonly node: PlannedNode;
  readonly pool: Pool;
  readonly found: Found;
}

/** The name of a new node of the plan. */
export function newNodeName(index: number): string {
  return `new node ${index}`;
}

/** Looks up everything a new node refers to; reports it and returns undefined if something does not exist. */
export function lookUp(
  problem: Problem,
  market: Market,
  plan: NewNode,
  name: string,
  report: Report,
): Bought | undefined {
  const pool = market.pool(plan.pool);
  if (pool === undefined) return void report('unknown-pool', name, `pool ${plan.pool} does not exist`);
  const [first] = plan.offerings;
  const found = first === undefined ? undefined : market.find(first);
  if (found === undefined)
    return void report('unknown-offering', name, first === undefined ? 'no offering' : nameOf(first));
  const node = newNode({ name, pool, ...found, narrowed: plan.requirements }, problem);
  return { plan, node, pool, found };
}

/** Checks one launch: every offering in its list must be able to replace the first. */
export function checkPurchase(
  problem: Problem,
  market: Market,
  bought: Bought,
  pods: readonly PodGroup[],
  report: Report,
): void {
  const { plan, node, pool } = bought;
  if (pods.length === 0) report('empty-node', node.name, 'is bought for no pod');
  if (plan.price !== plan.offerings[0]?.price)
    report('price', node.name, `${plan.price} is not its first offering's price`);
  const sums = totalRequests(pods);
  for (const resource of new Set([...Object.keys(sums), ...Object.keys(plan.requests)])) {
    if (resource !== 'pods' && (sums[resource] ?? 0) !== (plan.requests[resource] ?? 0)) {
      report(
        'requests',
        node.name,
        `${resource}: says ${plan.requests[resource] ?? 0}, pods request ${sums[resource] ?? 0}`,
      );
    }
  }
  const seen = new Set<string>();
  for (const [rank, ranked] of plan.offerings.entries()) {
    const key = `${ranked.instanceType}/${ranked.zone}/${ranked.capacityType}/${ranked.reservationId ?? ''}`;
    if (seen.has(key)) report('alternatives', node.name, `${key} is listed twice`);
    seen.add(key);
    const found = market.find(ranked);
    if (found === undefined) {
      report('unknown-offering', node.name, nameOf(ranked));
      continue;
    }
    const asBought =
      rank === 0 ? node : newNode({ name: node.name, pool, ...found, narrowed: plan.requirements }, problem);
    checkAllowed(asBought, pool, found, plan, report);
    const reportRanked: Report =
      rank === 0
        ? report
        : (rule, subject, detail) => report('alternatives', subject, `${nameOf(ranked)}: ${rule}: ${detail}`);
    checkNode(asBought, pods, reportRanked);
    checkDaemons(problem, asBought, pods, reportRanked);
  }
  checkMinValues(problem, market, bought, report);
}

/** Checks whether the pool may use the offering. */
export function checkAllowed(
  node: PlannedNode,
  pool: Pool,
  { type, offering }: Found,
  plan: Pick<NewNode, 'requirements'>,
  report: Report,
): void {
  const what = `${type.name} ${offering.capacityType} in ${offering.zone}`;
  if (offering.healthy === false) report('unhealthy-offering', node.name, what);
  if (pool.instanceTypes !== undefined && !pool.instanceTypes.includes(type.name)) {
    report('pool-instance-types', node.name, `${type.name} is not a type of pool ${pool.name}`);
  }
  const policy = pool.capacityTypePolicy ?? 'all';
  if (
    (policy === 'reserved-only' && offering.capacityType !== 'reserved') ||
    (policy === 'reserved-or-on-demand' && offering.capacityType === 'spot')
  ) {
    report('capacity-type-policy', node.name, `${what} in a pool that is ${policy}`);
  }
  for (const condition of [...(pool.requirements ?? []), ...(type.requirements ?? []), ...plan.requirements]) {
    const impossible = node.open.has(condition.key) && openValues(node, condition.key, []).length === 0;
    if (impossible || !(node.open.has(condition.key) || certain(node, condition))) {
      report(
        'pool-requirements',
        node.name,
        `${what}: ${condition.key} ${condition.operator} ${condition.values.join(',')}`,
      );
    }
  }
  for (const [key, value] of Object.entries(pool.labels ?? {})) {
    if (node.labels.get(key) !== value) report('pool-requirements', node.name, `${what}: label ${key} is not ${value}`);
  }
}

function checkMinValues(problem: Problem, market: Market, { plan, node, pool }: Bought, report: Report): void {
  for (const { key, minValues } of pool.requirements ?? []) {
    if (minValues === undefined) continue;
    const values = new Set<string>();
    for (const ranked of plan.offerings) {
      const found = market.find(ranked);
      if (found === undefined) continue;
      const candidate = newNode({ name: node.name, pool, ...found, narrowed: plan.requirements }, problem);
      const value = candidate.labels.get(key);
      if (value !== undefined) values.add(value);
    }
    if (values.size < minValues)
      report('min-values', node.name, `${values.size} values of ${key}, ${minValues} wanted`);
  }
}

/** Checks the totals of all launches: limits of pools, slots of offerings and reservations. */
export function checkTotals(problem: Problem, market: Market, purchases: readonly Bought[], report: Report): void {
  for (const pool of problem.pools) {
    const mine = purchases.filter((bought) => bought.pool === pool);
    for (const [resource, limit] of Object.entries(pool.limits ?? {})) {
      const bought =
        resource === 'nodes'
          ? mine.length
          : mine.reduce((sum, { found }) => sum + (found.type.capacity[resource] ?? 0), 0);
      const total = (pool.usage?.[resource] ?? 0) + bought;
      // A pool that already exceeded its limit may stay so, as long as nothing is added.
      if (bought > 0 && total > limit) report('limits', `pool ${pool.name}`, `${resource}: ${total} of ${limit}`);
      // If minValues must be counted every type is listed, whatever its size.
      const free = pool.requirements?.every(({ minValues }) => minValues === undefined) ?? true;
      for (const { plan, node, found } of free ? mine : []) {
        const amountOf = (one: Found | undefined): number => one?.type.capacity[resource] ?? 0;
        const alternatives = plan.offerings.map((ranked) => amountOf(market.find(ranked)));
        const more = Math.max(...alternatives) - amountOf(found);
        if (more > 0 && total + more > limit)
          report('alternatives', node.name, `limits: ${resource}: ${total + more} of ${limit}`);
      }
    }
  }
  const slots = new Map<string, { slots: number; taken: number }>();
  for (const { found } of purchases) {
    const key = slotKey(found);
    const count = slots.get(key) ?? { slots: market.slots(found), taken: 0 };
    count.taken++;
    slots.set(key, count);
  }
  for (const [key, { slots: available, taken }] of slots) {
    if (taken > available) report('slots', key, `${taken} bought, ${available} available`);
  }
}

/** Checks the price and bound that the plan states. */
export function checkStatedPrice(solution: Solution, report: Report): void {
  const sum = solution.newNodes.reduce((total, node) => total + node.price, 0);
  const tolerance = 1e-6 * Math.max(1, sum);
  if (!(Math.abs(solution.price - sum) <= tolerance))
    report('price', 'plan', `says ${solution.price}, nodes cost ${sum}`);
  if (!(solution.lowerBound <= sum + tolerance)) {
    report('lower-bound', 'plan', `the bound ${solution.lowerBound} is above the price ${sum}`);
  }
  const gap = sum === 0 ? 0 : (sum - solution.lowerBound) / sum;
  if (!(Math.abs(solution.gap - gap) <= 1e-6))
    report('lower-bound', 'plan', `says a gap of ${solution.gap}, it is ${gap}`);
}
