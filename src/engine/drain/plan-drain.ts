/**
 * Plans how pods leave a node before its machine goes: group after group while there is time, as many at once as their
 * disruption budgets let go, with their own grace periods where those fit and shorter ones where they must be.
 */
import { inOrder, SHORTEST_GRACE_MS, type Turn, turnsOf } from './budget-turns.ts';
import type { DrainPlan, DrainStep, LatePod, LateReason } from './drain-plan.ts';
import type { DrainBudget, DrainPod, DrainQuestion } from './drain-question.ts';

/** Pods that have to wait for each other, in the order of their turns: those of one budget, or one alone. */
interface Chain {
  readonly pods: readonly DrainPod[];
  readonly budget?: DrainBudget;
  /** Why none of them can be counted on to leave. */
  readonly blocked?: LateReason;
}

interface Times {
  readonly now: number;
  readonly deadline: number;
  /** By when pods should have ended. */
  readonly end: number;
  /** Nothing can be done in time any more. */
  readonly over: boolean;
}

/** A chain whose first pods are asked at a known time. */
interface StartedChain extends Chain {
  /** If it starts later, somebody's grace period is shortened. */
  readonly latestStart: number;
  readonly start: number;
  readonly turns: readonly Turn[];
  /** When each turn comes after the first if nobody's grace period is shortened. */
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
 * When the grace period of a pod that is leaving already has to end, because by its own it would outlive the machine;
 * undefined where it need not be shortened, or where that would help nobody.
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

/** One turn for all where no budget makes them wait. */
function turns({ pods, budget }: Chain, availableMs: number): Turn[] {
  if (budget !== undefined) return turnsOf(pods, budget, availableMs);
  const most = Math.max(SHORTEST_GRACE_MS, availableMs);
  return pods.map((pod) => ({ pod, afterMs: 0, graceMs: Math.min(pod.graceMs, most) }));
}

/** The steps of those pods of a chain that are in a group, which is asked when the former groups have left. */
function stepsOf(chain: StartedChain, group: number, formerEnd: number, { end, over }: Times): DrainStep[] {
  const { start, latestStart, budget } = chain;
  const first = chain.pods[0]?.group === group;
  let former = start;
  return chain.turns.flatMap(({ pod, afterMs, graceMs }, index): DrainStep[] => {
    if (pod.group !== group) return [];
    const unhurriedMs = chain.unhurried[index]?.afterMs ?? 0;
    // The last moment that leaves it, and those after it, their time.
    const latest = latestStart + (Number.isFinite(unhurriedMs) ? unhurriedMs : 0);
    const notBefore = Math.max(pod.heldUntil ?? start, first ? start : formerEnd);
    // Nobody takes the turn of one who waits longer.
    const askAt = Math.max(former, Math.min(notBefore, latest));
    former = askAt;
    const expectedAt = Math.max(askAt, start + afterMs);
    const given = over ? pod.graceMs : graceMs;
    // Where others wait for its end, it may not take longer than was reckoned with.
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
