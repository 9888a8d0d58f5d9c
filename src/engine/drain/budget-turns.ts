/**
 * Pods that one disruption budget lets go a few at a time. The next may go when those that took the places of the former
 * are ready, so that the pods form turns.
 */
import type { DrainBudget, DrainPod } from './drain-question.ts';

/** A pod in its turn. */
export interface Turn {
  readonly pod: DrainPod;
  /** How long after the first turn its own comes; infinity when it never comes. */
  readonly afterMs: number;
  /** The grace period it can be given. */
  readonly graceMs: number;
}

/** Shorter is no grace at all. */
export const SHORTEST_GRACE_MS = 1000;

/** Who needs most time goes first; those that are not to be disturbed go last. */
export function inOrder(pods: readonly DrainPod[]): DrainPod[] {
  const held = (pod: DrainPod): number => (pod.heldUntil === undefined ? 0 : 1);
  return [...pods].sort((a, b) => held(a) - held(b) || b.graceMs - a.graceMs || (a.id < b.id ? -1 : 1));
}

/**
 * The turns of pods that share a budget which lets somebody go, with grace periods such that all have ended after
 * `availableMs`, where that is possible. Only where a pod has to end before the next turn can come does its grace period
 * cost the others time; then it is shortened for all alike.
 */
export function turnsOf(pods: readonly DrainPod[], budget: DrainBudget, availableMs: number): Turn[] {
  const rounds = roundsOf(inOrder(pods), budget);
  const longest = Math.max(...pods.map(({ graceMs }) => graceMs));
  const cap = pods.some(({ comesBack }) => comesBack === 'after-its-end')
    ? longestCap(rounds, longest, availableMs)
    : longest;
  const starts = startsOf(rounds, cap);
  return rounds.flatMap((round, index) =>
    round.map((pod) => {
      const afterMs = starts[index] ?? Number.POSITIVE_INFINITY;
      const left = Math.max(SHORTEST_GRACE_MS, availableMs - afterMs);
      return { pod, afterMs, graceMs: Math.min(capped(pod, cap), left) };
    }),
  );
}

/** Who goes together: pods of other nodes take their share of each turn. */
function roundsOf(pods: readonly DrainPod[], { allowed, away, elsewhere }: DrainBudget): DrainPod[][] {
  const rounds: DrainPod[][] = [];
  for (const [index, pod] of pods.entries()) {
    const rank = Math.floor((index * (pods.length + elsewhere)) / pods.length);
    const turn = Math.floor((away + rank) / allowed);
    const round = rounds[turn];
    if (round === undefined) rounds[turn] = [pod];
    else round.push(pod);
  }
  // A turn in which only pods of other nodes go takes as long as any other.
  return Array.from(rounds, (round) => round ?? []);
}

/** When each turn comes, after the first. */
function startsOf(rounds: readonly (readonly DrainPod[])[], cap: number): number[] {
  const starts: number[] = [];
  let at = 0;
  // While others are away, the first turn is theirs.
  let lengthMs = Math.max(...rounds.flat().map(({ readyMs }) => readyMs));
  for (const round of rounds) {
    starts.push(at);
    if (round.length > 0) lengthMs = Math.max(...round.map((pod) => turnMs(pod, cap)));
    at += lengthMs;
  }
  return starts;
}

function turnMs(pod: DrainPod, cap: number): number {
  if (pod.comesBack === 'never') return Number.POSITIVE_INFINITY;
  return pod.readyMs + (pod.comesBack === 'after-its-end' ? capped(pod, cap) : 0);
}

/** The longest grace period, in whole seconds, with which the last turn ends in time; the shortest when there is none. */
function longestCap(rounds: readonly (readonly DrainPod[])[], longest: number, availableMs: number): number {
  const fits = (cap: number): boolean => {
    const start = startsOf(rounds, cap).at(-1) ?? 0;
    const last = Math.max(SHORTEST_GRACE_MS, ...(rounds.at(-1) ?? []).map((pod) => capped(pod, cap)));
    return start + last <= availableMs;
  };
  if (fits(longest)) return longest;
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
