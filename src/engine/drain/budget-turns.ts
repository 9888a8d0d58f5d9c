/**
 * Pods that one disruption budget lets go a few at a time: each takes one of the places that the budget allows to be
 * empty, and gives it back when the one that came in its stead is ready.
 */
import { Heap } from '../../platform/heap.ts';
import type { DrainBudget, DrainPod } from './drain-question.ts';

/** A pod in its turn. */
export interface Turn {
  readonly pod: DrainPod;
  /** How long after the start its turn comes; infinity when it never comes. */
  readonly afterMs: number;
  /** The grace period it can be given. */
  readonly graceMs: number;
}

/** Shorter is no grace at all. */
export const SHORTEST_GRACE_MS = 1000;

/** By group, and in each those that are not to be disturbed last; else who needs most time goes first. */
export function inOrder(pods: readonly DrainPod[]): DrainPod[] {
  const held = (pod: DrainPod): number => (pod.heldUntil === undefined ? 0 : 1);
  return [...pods].sort(
    (a, b) => a.group - b.group || held(a) - held(b) || b.graceMs - a.graceMs || (a.id < b.id ? -1 : 1),
  );
}

/**
 * The turns of pods, in this order, that share a budget which lets somebody go, with grace periods such that all have
 * ended after `availableMs`, where that is possible. Only where a pod has to end before another comes in its stead does
 * its grace period cost the others time; then it is shortened for all alike.
 */
export function turnsOf(pods: readonly DrainPod[], budget: DrainBudget, availableMs: number): Turn[] {
  const cap = longestCap(pods, budget, availableMs);
  const starts = startsOf(pods, budget, cap);
  return pods.map((pod, index) => {
    const afterMs = starts[index] ?? Number.POSITIVE_INFINITY;
    const left = Math.max(SHORTEST_GRACE_MS, availableMs - afterMs);
    return { pod, afterMs, graceMs: Math.min(capped(pod, cap), left) };
  });
}

/** When the turn of each pod comes. */
function startsOf(pods: readonly DrainPod[], budget: DrainBudget, cap: number): number[] {
  const { allowed, away, elsewhere } = budget;
  const most = pods.length + elsewhere;
  // There is a plan at every look at a node: where nobody has to wait, nothing is reckoned.
  if (allowed - away >= most) return pods.map(() => 0);
  const backMs = Math.max(...pods.map(({ readyMs }) => readyMs));
  // When each of the places can be used next, the soonest first; more of them than there are pods are of no use.
  const places = new Heap<number>((a, b) => a < b);
  for (let place = 0; place < Math.min(allowed, most); place++) places.push(place < allowed - away ? 0 : backMs);
  const take = (pod: DrainPod): number => {
    const start = places.pop() ?? 0;
    places.push(start + emptyMs(pod, cap));
    return start;
  };
  // Pods that leave other nodes take turns in between.
  let others = 0;
  return pods.map((pod, index) => {
    for (; others < Math.floor((index * elsewhere) / pods.length); others++) take(pod);
    return take(pod);
  });
}

/** How long the place of a pod stays empty. */
function emptyMs(pod: DrainPod, cap: number): number {
  if (pod.comesBack === 'never') return Number.POSITIVE_INFINITY;
  return pod.readyMs + (pod.comesBack === 'after-its-end' ? capped(pod, cap) : 0);
}

/** The longest grace period, in whole seconds, with which the last turn ends in time; the shortest when there is none. */
function longestCap(pods: readonly DrainPod[], budget: DrainBudget, availableMs: number): number {
  const longest = Math.max(SHORTEST_GRACE_MS, ...pods.map(({ graceMs }) => graceMs));
  const fits = (cap: number): boolean => {
    const ends = startsOf(pods, budget, cap).map((start, index) => start + capped(pods[index] as DrainPod, cap));
    return Math.max(...ends) <= availableMs;
  };
  if (!pods.some(({ comesBack }) => comesBack === 'after-its-end') || fits(longest)) return longest;
  let low = 1;
  let high = Math.ceil(longest / 1000);
  while (low + 1 < high) {
    const middle = Math.floor((low + high) / 2);
    if (fits(middle * 1000)) low = middle;
    else high = middle;
  }
  return low * 1000;
}

function capped({ graceMs, comesBack }: DrainPod, cap: number): number {
  return comesBack === 'after-its-end' ? Math.min(graceMs, cap) : graceMs;
}
