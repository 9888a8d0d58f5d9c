/**
 * Schedules the evictions of pods that share a PodDisruptionBudget. The budget allows a number of pods to be away at a
 * time: each evicted pod takes one of these places, and gives it back when its replacement pod is ready.
 */
import { Heap } from '../../platform/heap.ts';
import type { DrainBudget, DrainPod } from './drain-question.ts';

/** A pod and the time of its eviction. */
export interface Turn {
  readonly pod: DrainPod;
  /** How long after the start it can be evicted; infinity if never. */
  readonly afterMs: number;
  /** The grace period it can be given. */
  readonly graceMs: number;
}

/** The shortest grace period given. */
export const SHORTEST_GRACE_MS = 1000;

/** Sorts by group; in each group do-not-disrupt pods last, otherwise the longest grace period first. */
export function inOrder(pods: readonly DrainPod[]): DrainPod[] {
  const held = (pod: DrainPod): number => (pod.heldUntil === undefined ? 0 : 1);
  return [...pods].sort(
    (a, b) => a.group - b.group || held(a) - held(b) || b.graceMs - a.graceMs || (a.id < b.id ? -1 : 1),
  );
}

/**
 * The eviction times of pods that share a budget which allows evictions, in this order. Grace periods are chosen so that
 * all pods have ended after `availableMs`, if possible. A grace period delays other pods only if the replacement is
 * created after the pod has ended; then it is shortened equally for all.
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

/** When each pod can be evicted. */
function startsOf(pods: readonly DrainPod[], budget: DrainBudget, cap: number): number[] {
  const { allowed, away, elsewhere } = budget;
  const most = pods.length + elsewhere;
  // Plans are made often, so the common case without waiting is quick.
  if (allowed - away >= most) return pods.map(() => 0);
  const backMs = Math.max(...pods.map(({ readyMs }) => readyMs));
  // When each place is free next, soonest first; more places than pods are not needed.
  const places = new Heap<number>((a, b) => a < b);
  for (let place = 0; place < Math.min(allowed, most); place++) places.push(place < allowed - away ? 0 : backMs);
  const take = (pod: DrainPod): number => {
    const start = places.pop() ?? 0;
    places.push(start + emptyMs(pod, cap));
    return start;
  };
  // Pods of the same budget on other nodes are evicted in between.
  let others = 0;
  return pods.map((pod, index) => {
    for (; others < Math.floor((index * elsewhere) / pods.length); others++) take(pod);
    return take(pod);
  });
}

/** How long the place of a pod stays taken. */
function emptyMs(pod: DrainPod, cap: number): number {
  if (pod.comesBack === 'never') return Number.POSITIVE_INFINITY;
  return pod.readyMs + (pod.comesBack === 'after-its-end' ? capped(pod, cap) : 0);
}

/** The longest grace period, in whole seconds, with which the last pod ends in time; the shortest if there is none. */
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
