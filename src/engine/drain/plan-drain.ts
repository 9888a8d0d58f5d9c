/**
 * Plans how pods leave a node before it is terminated: group after group while there is time, as many at once as their
 * PodDisruptionBudgets allow. Pods keep their own grace periods if those fit, and get shorter ones otherwise.
 */
import { inOrder, SHORTEST_GRACE_MS, type Turn, turnsOf } from './budget-turns.ts';
import type { DrainPlan, DrainStep, LatePod, LateReason } from './drain-plan.ts';
import type { DrainBudget, DrainPod, DrainQuestion } from './drain-question.ts';

/** Pods that wait for each other, in the order of eviction: those of one budget, or a single pod. */
interface Chain {
  readonly pods: readonly DrainPod[];
  readonly budget?: DrainBudget;
  /** Why none of them can be expected to leave. */
  readonly blocked?: LateReason;
}

interface Times {
  readonly now: number;
  readonly deadline: number;
  /** When pods should have ended. */
  readonly end: number;
  /** No pod can end in time. */
  readonly over: boolean;
}

/** A chain with a known time for its first eviction. */
interface StartedChain extends Chain {
  /** If it starts later, a grace period must be shortened. */
  readonly latestStart: number;
  readonly start: number;
  readonly turns: readonly Turn[];
  /** The eviction times relative to the start, if no grace period is shortened. */
  readonly unhurried: readonly Turn[];
}

export function planDrain(question: DrainQuestion): DrainPlan {
  const { pods } = question;
  const times = timesOf(question);
  const chains = chainsOf(question);
  const started = new Map<Chain, StartedChain>();
  const steps: DrainStep[] = [];
  const late: LatePod[] = [];
  let formerEnd = Number.NEGATIVE_INFINITY;
  for (const group of [...new Set(pods.map((pod) => pod.group))].sort((a, b) => a - b)) {
    const ends = pods.flatMap((pod) => (pod.group === group && pod.endsAt !== undefined ? [pod.endsAt] : []));
    for (const chain of chains.filter((one) => one.pods.some((pod) => pod.group === group))) {
      const going = started.get(chain) ?? startOf(chain, times, formerEnd);
      started.set(chain, going);
      for (const step of stepsOf(going, group, formerEnd, times)) {
        const reason = lateReason(step, chain, times);
        steps.push(step);
        if (reason !== undefined) late.push({ pod: step.pod, reason });
        ends.push(reason === undefined ? step.expectedAt + step.graceMs : Number.POSITIVE_INFINITY);
      }
    }
    formerEnd = Math.max(formerEnd, ...ends);
  }
  const latestStart = Math.min(...[...started.values()].map((chain) => chain.latestStart));
  return { latestStart, steps: steps.sort((a, b) => a.askAt - b.askAt || a.expectedAt - b.expectedAt), late };
}

/**
 * The time at which a terminating pod's grace period must end, because it would outlast the node; undefined if it need not
 * be shortened, or if that would not help.
 */
export function shortenedEnd(question: Omit<DrainQuestion, 'pods' | 'budgets'>, endsAt: number): number | undefined {
  const { end, over, deadline } = timesOf(question);
  return over || endsAt <= deadline ? undefined : end;
}

function timesOf({ now, deadline, marginMs }: Omit<DrainQuestion, 'pods' | 'budgets'>): Times {
  const soonest = now + SHORTEST_GRACE_MS;
  return { now, deadline, over: soonest > deadline, end: Math.max(deadline - marginMs, Math.min(deadline, soonest)) };
}

function chainsOf({ pods, budgets }: DrainQuestion): Chain[] {
  const known = new Map(budgets.map((budget) => [budget.name, budget]));
  const alone: Chain[] = [];
  const shared = new Map<DrainBudget, DrainPod[]>();
  for (const pod of inOrder(pods.filter(({ endsAt }) => endsAt === undefined))) {
    const budget = known.get(pod.budgets[0] ?? '');
    if (pod.budgets.length > 1) alone.push({ pods: [pod], blocked: { kind: 'several', budgets: pod.budgets } });
    else if (budget === undefined) alone.push({ pods: [pod] });
    else if (budget.allowed <= 0) alone.push({ pods: [pod], blocked: { kind: 'closed', budget: budget.name } });
    else shared.set(budget, [...(shared.get(budget) ?? []), pod]);
  }
  return [...alone, ...[...shared].map(([budget, of]) => ({ budget, pods: of }))];
}

function startOf(chain: Chain, { now, end }: Times, formerEnd: number): StartedChain {
  const unhurried = turns(chain, Number.POSITIVE_INFINITY);
  const comes = unhurried.filter(({ afterMs }) => Number.isFinite(afterMs));
  const latestStart = end - Math.max(...comes.map(({ afterMs, graceMs }) => afterMs + graceMs));
  const start = Math.max(now, Math.min(formerEnd, latestStart));
  return { ...chain, latestStart, start, unhurried, turns: turns(chain, end - start) };
}

/** All at once if no budget makes them wait. */
function turns({ pods, budget }: Chain, availableMs: number): Turn[] {
  if (budget !== undefined) return turnsOf(pods, budget, availableMs);
  const most = Math.max(SHORTEST_GRACE_MS, availableMs);
  return pods.map((pod) => ({ pod, afterMs: 0, graceMs: Math.min(pod.graceMs, most) }));
}

/** The steps of a chain's pods in one group, which is evicted when the earlier groups have left. */
function stepsOf(chain: StartedChain, group: number, formerEnd: number, { end, over }: Times): DrainStep[] {
  const { start, latestStart, budget } = chain;
  const first = chain.pods[0]?.group === group;
  let former = start;
  return chain.turns.flatMap(({ pod, afterMs, graceMs }, index): DrainStep[] => {
    if (pod.group !== group) return [];
    const unhurriedMs = chain.unhurried[index]?.afterMs ?? 0;
    // The latest time that does not shorten this pod's or a later pod's grace period.
    const latest = latestStart + (Number.isFinite(unhurriedMs) ? unhurriedMs : 0);
    const notBefore = Math.max(pod.heldUntil ?? start, first ? start : formerEnd);
    // No pod is evicted before one that is ahead of it in the chain.
    const askAt = Math.max(former, Math.min(notBefore, latest));
    former = askAt;
    const expectedAt = Math.max(askAt, start + afterMs);
    const given = over ? pod.graceMs : graceMs;
    // If other pods wait for its end, it may not take longer than planned.
    const waitedFor = budget !== undefined && pod.comesBack === 'after-its-end' && Number.isFinite(expectedAt);
    return [{ pod, askAt, expectedAt, graceMs: given, endBy: over || waitedFor ? expectedAt + given : end }];
  });
}

function lateReason({ expectedAt }: DrainStep, { budget, blocked }: Chain, times: Times): LateReason | undefined {
  if (times.over) return { kind: 'no-time' };
  if (blocked !== undefined) return blocked;
  if (expectedAt + SHORTEST_GRACE_MS <= times.deadline || budget === undefined) return undefined;
  return { kind: 'turns', budget: budget.name, allowed: budget.allowed, turnAt: expectedAt };
}
