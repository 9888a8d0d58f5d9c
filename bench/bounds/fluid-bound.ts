/**
 * What the pods of a problem cost at the very least if each could be cut over many machines: the cheapest mix of machines that has what
 * all pods take together. For problems of one pool whose pods are all free to go anywhere, or all spread over zones.
 */
import type { InstanceType, PodGroup, Problem } from '../../src/engine/problem.ts';
import { type Machine, machinesThatMatter, resourcePrices, worthOf } from './resource-prices.ts';

const GIB = 1024 ** 3;
/** Rounds in which zones and prices are fitted to each other. */
const ROUNDS = 40;

/** The bound, and the same where pods spread over zones have to have their share in each. */
export interface FluidBounds {
  readonly anywhere: number;
  readonly zones: number;
}

/** The bounds of a problem. */
export function fluidBounds({ instanceTypes, pods }: Problem): FluidBounds {
  const requests = pods.flatMap((pod) => Array.from({ length: pod.count ?? 1 }, () => amountsOf(pod)));
  const demand = sumOf(requests);
  const anywhere = worthOf(resourcePrices(machinesIn(instanceTypes), demand), demand);
  return { anywhere, zones: Math.max(anywhere, spreadBound(instanceTypes, pods, requests)) };
}

function amountsOf({ requests }: PodGroup): number[] {
  return [(requests.cpu ?? 0) / 1000, (requests.memory ?? 0) / GIB, 1];
}

function sumOf(amounts: readonly (readonly number[])[]): number[] {
  return [0, 1, 2].map((column) => amounts.reduce((sum, one) => sum + (one[column] as number), 0));
}

/** What can be bought, in one zone or in any. */
function machinesIn(types: readonly InstanceType[], zone?: string): Machine[] {
  return types.flatMap(({ offerings, capacity, overhead = {} }) => {
    const prices = offerings.filter((one) => zone === undefined || one.zone === zone).map(({ price }) => price);
    if (prices.length === 0) return [];
    const left = (name: string): number => Math.max(0, (capacity[name] ?? 0) - (overhead[name] ?? 0));
    return [{ price: Math.min(...prices), has: [left('cpu') / 1000, left('memory') / GIB, left('pods')] }];
  });
}

/**
 * Each zone has to have its share of the pods, but which ones is free. By duality: for any prices of resources in the zones and any
 * reward for being in a zone, pods cost at least what each costs where it is cheapest.
 */
function spreadBound(
  types: readonly InstanceType[],
  pods: readonly PodGroup[],
  requests: readonly (readonly number[])[],
): number {
  if (!pods.every(({ topologySpread = [] }) => topologySpread.length === 1)) return 0;
  const zones = [...new Set(types.flatMap(({ offerings }) => offerings.map(({ zone }) => zone)))].sort();
  const machines = zones.map((zone) => machinesIn(types, zone));
  const least = leastInZone(pods, zones.length);
  let demand = zones.map(() => sumOf(requests).map((amount) => amount / zones.length));
  let matter: Machine[][] = zones.map(() => []);
  let prices = zones.map(() => [0, 0, 0]);
  let best = 0;
  for (let round = 1; round <= ROUNDS; round++) {
    const latest = machines.map((own, zone) => resourcePrices(own, demand[zone] as number[], matter[zone]));
    matter = machines.map((own, zone) => machinesThatMatter(own, latest[zone] as number[]));
    // Prices at which no machine holds too much may be mixed, and a mixture is nearer to what fits all zones at once.
    prices = prices.map((before, zone) => mixed(before, latest[zone] as number[], round));
    const costs = requests.map((amounts) => prices.map((ofZone) => worthOf(ofZone, amounts)));
    const rewards = rewardsFor(costs, least, zones.length);
    const chosen = costs.map((ofPod) => cheapest(ofPod, rewards));
    const sum = costs.reduce((total, ofPod, pod) => {
      const zone = chosen[pod] as number;
      return total + (ofPod[zone] as number) - (rewards[zone] as number);
    }, 0);
    best = Math.max(best, sum + least * rewards.reduce((total, reward) => total + reward, 0));
    const taken = zones.map((_, zone) => sumOf(requests.filter((__, pod) => chosen[pod] === zone)));
    demand = demand.map((before, zone) => mixed(before, taken[zone] as number[], round + 1));
  }
  return best;
}

/** The average of so many rounds, of which all but the latest are in `before`. */
function mixed(before: readonly number[], latest: readonly number[], rounds: number): number[] {
  return before.map((amount, column) => amount + ((latest[column] as number) - amount) / rounds);
}

/** Pods that every zone has at least: of each app its whole share. */
function leastInZone(pods: readonly PodGroup[], zones: number): number {
  const apps = Map.groupBy(pods, ({ labels = {} }) => JSON.stringify(labels));
  return [...apps.values()].reduce((sum, { length }) => sum + Math.floor(length / zones), 0);
}

function cheapest(costs: readonly number[], rewards: readonly number[]): number {
  let best = 0;
  for (let zone = 1; zone < costs.length; zone++) {
    const less =
      (costs[zone] as number) - (rewards[zone] as number) < (costs[best] as number) - (rewards[best] as number);
    if (less) best = zone;
  }
  return best;
}

/** The rewards at which every zone gets at least so many pods, and no more than is needed: zone after zone, a few times over. */
function rewardsFor(costs: readonly (readonly number[])[], least: number, zones: number): number[] {
  const rewards = Array.from({ length: zones }, () => 0);
  for (let turn = 0; turn < 3 * zones; turn++) {
    const zone = turn % zones;
    const missing = costs.map((ofPod) => {
      const others = ofPod.map((cost, other) =>
        other === zone ? Number.POSITIVE_INFINITY : cost - (rewards[other] as number),
      );
      return (ofPod[zone] as number) - Math.min(...others);
    });
    missing.sort((a, b) => a - b);
    rewards[zone] = Math.max(0, least === 0 ? 0 : (missing[least - 1] as number));
  }
  return rewards;
}
