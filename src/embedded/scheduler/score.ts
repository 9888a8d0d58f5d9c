/** Scores the feasible nodes: emptier, more balanced, preferred by the pod, and away from similar pods. */
import { tolerates } from '../../apis/kubernetes/taints.ts';
import type { Cycle } from './filter.ts';
import { labelsOf, type NodeEntry, type PlacedPod } from './node-entry.ts';
import type { PodClass } from './pod-class.ts';
import type { PodCounter } from './pod-counter.ts';
import { CPU_COLUMN, MEMORY_COLUMN } from './resource-columns.ts';
import type { ClusterSnapshot } from './snapshot.ts';
import type { TopologyDomains } from './topology-domains.ts';
import { prepareSpread } from './topology-spread.ts';

/** The weights of kube-scheduler's default plugins. */
const TAINT_WEIGHT = 3;
const NODE_AFFINITY_WEIGHT = 2;
const SPREAD_WEIGHT = 2;
const POD_AFFINITY_WEIGHT = 2;
const BEST = 100;

/** Spread of a controller's pods that have no constraints of their own (kube-scheduler's system defaults). */
const ZONE_KEY = 'topology.kubernetes.io/zone';
const ZONE_SKEW = 5;
const HOST_SKEW = 3;

/** A score for each node, in their order; higher is better. */
export function scoreNodes(cycle: Cycle, entries: readonly NodeEntry[]): Float64Array {
  const { podClass, snapshot } = cycle;
  const scores = new Float64Array(entries.length);
  for (let index = 0; index < entries.length; index++) {
    scores[index] = roomScore(podClass, entries[index] as NodeEntry);
  }
  const add = (raw: Float64Array, weight: number, normalize: (raw: Float64Array) => void): void => {
    normalize(raw);
    for (let index = 0; index < scores.length; index++)
      scores[index] = (scores[index] as number) + weight * (raw[index] as number);
  };
  const dislikes = taintDislikes(podClass, entries);
  if (dislikes !== undefined) add(dislikes, TAINT_WEIGHT, lessIsBetter);
  if (podClass.preferredNodes.length > 0) add(nodePreferences(podClass, entries), NODE_AFFINITY_WEIGHT, moreIsBetter);
  const crowding = spreadCosts(snapshot, podClass, entries);
  if (crowding !== undefined) add(crowding, SPREAD_WEIGHT, crowdedIsWorse);
  if (podClass.preferredPods.length > 0)
    add(podPreferences(snapshot, podClass, entries), POD_AFFINITY_WEIGHT, betweenExtremes);
  return scores;
}

/** NodeResourcesFit (least allocated) plus NodeResourcesBalancedAllocation. */
function roomScore(podClass: PodClass, entry: NodeEntry): number {
  const cpu = fraction(entry.assumedCpu + podClass.assumedCpu, entry.allocatable[CPU_COLUMN]);
  const memory = fraction(entry.assumedMemory + podClass.assumedMemory, entry.allocatable[MEMORY_COLUMN]);
  const room = (BEST * (2 - cpu - memory)) / 2;
  const balance = BEST * (1 - Math.abs(cpu - memory) / 2);
  return room + balance;
}

function fraction(used: number, of: number | undefined): number {
  return of === undefined || of <= 0 ? 1 : Math.min(1, used / of);
}

function taintDislikes(podClass: PodClass, entries: readonly NodeEntry[]): Float64Array | undefined {
  const soft = (entry: NodeEntry) => entry.node?.spec?.taints?.filter(({ effect }) => effect === 'PreferNoSchedule');
  if (!entries.some((entry) => entry.node?.spec?.taints?.length && soft(entry)?.length)) return undefined;
  const { tolerations = [] } = podClass.spec;
  const unliked = (entry: NodeEntry): number =>
    soft(entry)?.filter((taint) => !tolerations.some((toleration) => tolerates(toleration, taint))).length ?? 0;
  return Float64Array.from(entries, unliked);
}

function nodePreferences(podClass: PodClass, entries: readonly NodeEntry[]): Float64Array {
  return Float64Array.from(entries, (entry) => {
    let sum = 0;
    for (const { weight, matcher } of podClass.preferredNodes)
      if (matcher.matches(entry.name, labelsOf(entry))) sum += weight;
    return sum;
  });
}

/** The cost of a node rises with the matching pods in its domains; a node without a domain has the highest cost. */
function spreadCosts(
  snapshot: ClusterSnapshot,
  podClass: PodClass,
  entries: readonly NodeEntry[],
): Float64Array | undefined {
  if (podClass.spec.topologySpreadConstraints?.length) {
    if (podClass.softSpread.length === 0) return undefined;
    const states = prepareSpread(snapshot, podClass, podClass.softSpread);
    return Float64Array.from(entries, (entry) => {
      let cost = 0;
      for (const { constraint, domains, counts, domainCount } of states) {
        const domain = domains.of(entry);
        if (domain < 0) return Number.POSITIVE_INFINITY;
        cost += Math.max(0, counts[domain] ?? 0) * Math.log(domainCount + 2) + constraint.maxSkew - 1;
      }
      return Math.round(cost);
    });
  }
  return podClass.ownerUid === undefined ? undefined : defaultSpreadCosts(snapshot, podClass.ownerUid, entries);
}

function defaultSpreadCosts(snapshot: ClusterSnapshot, ownerUid: string, entries: readonly NodeEntry[]): Float64Array {
  const counter = snapshot.ownerCounter(ownerUid);
  const costs = new Float64Array(entries.length);
  if (counter === undefined) return costs;
  const zones = snapshot.domains(ZONE_KEY);
  const perZone = countByDomain(snapshot, zones, counter);
  const zoneWeight = Math.log(zones.count + 2);
  const hostWeight = Math.log(entries.length + 2);
  for (let index = 0; index < entries.length; index++) {
    const entry = entries[index] as NodeEntry;
    const zone = zones.of(entry);
    const inZone = zone < 0 ? 0 : (perZone[zone] as number) * zoneWeight + ZONE_SKEW - 1;
    costs[index] = Math.round(inZone + counter.on(entry.slot) * hostWeight + HOST_SKEW - 1);
  }
  return costs;
}

function countByDomain(
  snapshot: ClusterSnapshot,
  domains: TopologyDomains,
  counter: PodCounter<PlacedPod>,
): Int32Array {
  for (const entry of snapshot.nodes) domains.of(entry);
  const counts = new Int32Array(domains.count);
  for (const entry of snapshot.nodes) {
    const domain = domains.of(entry);
    if (domain >= 0) counts[domain] = (counts[domain] as number) + counter.on(entry.slot);
  }
  return counts;
}

function podPreferences(snapshot: ClusterSnapshot, podClass: PodClass, entries: readonly NodeEntry[]): Float64Array {
  const sums = new Float64Array(entries.length);
  for (const { weight, term } of podClass.preferredPods) {
    const counter = snapshot.counter([term], { terminating: true });
    if (counter.total === 0) continue;
    const domains = snapshot.domains(term.topologyKey);
    const counts = countByDomain(snapshot, domains, counter);
    entries.forEach((entry, index) => {
      sums[index] = (sums[index] as number) + weight * (counts[domains.of(entry)] ?? 0);
    });
  }
  return sums;
}

function extremes(raw: Float64Array): { least: number; most: number } {
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  for (const value of raw) {
    if (!Number.isFinite(value)) continue;
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return { least, most };
}

function moreIsBetter(raw: Float64Array): void {
  const { most } = extremes(raw);
  for (let index = 0; index < raw.length; index++) raw[index] = most > 0 ? (BEST * (raw[index] as number)) / most : 0;
}

function lessIsBetter(raw: Float64Array): void {
  const { most } = extremes(raw);
  for (let index = 0; index < raw.length; index++)
    raw[index] = most > 0 ? BEST - (BEST * (raw[index] as number)) / most : BEST;
}

function crowdedIsWorse(raw: Float64Array): void {
  const { least, most } = extremes(raw);
  for (let index = 0; index < raw.length; index++) {
    const value = raw[index] as number;
    if (!Number.isFinite(value)) raw[index] = 0;
    else raw[index] = most > 0 ? (BEST * (most + least - value)) / most : BEST;
  }
}

function betweenExtremes(raw: Float64Array): void {
  const { least, most } = extremes(raw);
  for (let index = 0; index < raw.length; index++) {
    raw[index] = most > least ? (BEST * ((raw[index] as number) - least)) / (most - least) : 0;
  }
}
