/**
 * Plans how pods leave a node before its machine goes: group after group while there is time, as many at once as their
 * disruption budgets let go, with their own grace periods where those fit and shorter ones where they must be.
 */
import { inOrder, SHORTEST_GRACE_MS, type Turn, turnsOf } from './budget-turns.ts';
import type { DrainPlan, DrainStep, LatePod, LateReason } from './drain-plan.ts';
import type { DrainBudget, DrainPod, DrainQuestion } from './drain-question.ts';

/** Pods of one group that have to wait for each other: those of one budget, or one alone. */
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

interface ChainPlan {
  readonly latestStart: number;
  readonly steps: readonly DrainStep[];
  readonly late: readonly LatePod[];
  readonly endsAt: number;
}

export function planDrain(question: DrainQuestion): DrainPlan {
  const times = timesOf(question);
  const budgets = new Map(question.budgets.map((budget) => [budget.name, budget]));
  const plans: ChainPlan[] = [];
  let formerEnd = Number.NEGATIVE_INFINITY;
  for (const group of [...new Set(question.pods.map((pod) => pod.group))].sort((a, b) => a - b)) {
    const pods = question.pods.filter((pod) => pod.group === group);
    const waiting = pods.filter(({ endsAt }) => endsAt === undefined);
    const here = chainsOf(waiting, budgets).map((chain) => planChain(chain, times, formerEnd));
    plans.push(...here);
    formerEnd = Math.max(
      formerEnd,
      ...pods.map(({ endsAt = formerEnd }) => endsAt),
      ...here.map((plan) => plan.endsAt),
    );
  }
  return {
    latestStart: Math.min(...plans.map((plan) => plan.latestStart)),
    steps: plans.flatMap((plan) => plan.steps).sort((a, b) => a.askAt - b.askAt || a.pod.group - b.pod.group),
    late: plans.flatMap((plan) => plan.late),
  };
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

function chainsOf(pods: readonly DrainPod[], budgets: ReadonlyMap<string, DrainBudget>): Chain[] {
  const alone: Chain[] = [];
  const shared = new Map<string, DrainPod[]>();
  for (const pod of inOrder(pods)) {
    const [name, ...others] = pod.budgets;
    const budget = budgets.get(name ?? '');
    if (others.length > 0) alone.push({ pods: [pod], blocked: { kind: 'several', budgets: pod.budgets } });
    else if (name === undefined || budget === undefined) alone.push({ pods: [pod] });
    else if (budget.allowed <= 0) alone.push({ pods: [pod], blocked: { kind: 'closed', budget: name } });
    else shared.set(name, [...(shared.get(name) ?? []), pod]);
  }
  return [...alone, ...[...shared].map(([name, of]) => ({ pods: of, budget: budgets.get(name) as DrainBudget }))];
}

function planChain(chain: Chain, times: Times, formerEnd: number): ChainPlan {
  const { now, end } = times;
  // With all the time in the world.
  const full = turns(chain, Number.POSITIVE_INFINITY);
  const fullMs = Math.max(
    ...full.flatMap(({ afterMs, graceMs }) => (Number.isFinite(afterMs) ? [afterMs + graceMs] : [])),
  );
  const latestStart = end - fullMs;
  const start = Math.max(now, Math.min(formerEnd, latestStart));
  const steps = turns(chain, end - start).map((turn, index): DrainStep => {
    const inFull = full[index]?.afterMs ?? 0;
    return stepOf(turn, chain, start, latestStart + (Number.isFinite(inFull) ? inFull : 0), times);
  });
  const late = steps.flatMap((step): LatePod[] => {
    const reason = lateReason(step, chain, times);
    return reason === undefined ? [] : [{ pod: step.pod, reason }];
  });
  const endsAt = late.length > 0 ? Number.POSITIVE_INFINITY : Math.max(...steps.map((s) => s.expectedAt + s.graceMs));
  return { latestStart, steps, late, endsAt };
}

/** One turn for all where no budget makes them wait. */
function turns({ pods, budget }: Chain, availableMs: number): Turn[] {
  if (budget !== undefined) return turnsOf(pods, budget, availableMs);
  return pods.map((pod) => ({
    pod,
    afterMs: 0,
    graceMs: Math.min(pod.graceMs, Math.max(SHORTEST_GRACE_MS, availableMs)),
  }));
}

function stepOf(turn: Turn, chain: Chain, start: number, latest: number, { end, over }: Times): DrainStep {
  const { pod } = turn;
  // One that is not to be disturbed is asked at the last moment that leaves it, and those after it, their time.
  const held = Math.max(start, Math.min(pod.heldUntil ?? start, latest));
  const expectedAt = Math.max(held, start + turn.afterMs);
  const left = Math.max(SHORTEST_GRACE_MS, end - expectedAt);
  const graceMs = over ? pod.graceMs : Math.min(turn.graceMs, left);
  const waitedFor = chain.pods.length > 1 && pod.comesBack === 'after-its-end' && Number.isFinite(expectedAt);
  return { pod, askAt: held, expectedAt, graceMs, endBy: over || waitedFor ? expectedAt + graceMs : end };
}

function lateReason({ expectedAt }: DrainStep, { budget, blocked }: Chain, times: Times): LateReason | undefined {
  if (times.over) return { kind: 'no-time' };
  if (blocked !== undefined) return blocked;
  if (expectedAt + SHORTEST_GRACE_MS <= times.deadline || budget === undefined) return undefined;
  return { kind: 'turns', budget: budget.name, allowed: budget.allowed, turnAt: expectedAt };
}
