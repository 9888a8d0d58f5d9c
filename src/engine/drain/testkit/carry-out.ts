/** Carries a drain plan out, second by second, against budgets that behave as in Kubernetes: slow and obviously correct. */
import type { DrainPlan, DrainStep } from '../drain-plan.ts';
import type { DrainPod, DrainQuestion } from '../drain-question.ts';

/** The outcome of a pod; infinity for events that never happen. */
export interface Outcome {
  readonly pod: DrainPod;
  readonly askedAt: number;
  readonly toldAt: number;
  readonly endedAt: number;
}

const STEP_MS = 500;

/** Only these pods use the budgets. Pods that are away at the start are back after the shortest time to become ready. */
export function carryOut(question: DrainQuestion, plan: Pick<DrainPlan, 'steps'>, untilMs: number): Outcome[] {
  const { budgets, now } = question;
  const free = new Map(budgets.map(({ name, allowed, away }) => [name, allowed - away]));
  const back: { at: number; budget: string; count: number }[] = budgets.map(({ name, away }) => ({
    at: now + Math.min(...plan.steps.filter(({ pod }) => pod.budgets[0] === name).map(({ pod }) => pod.readyMs)),
    budget: name,
    count: away,
  }));
  const outcomes: Outcome[] = [];
  let waiting = [...plan.steps].sort((a, b) => a.expectedAt - b.expectedAt);
  for (let at = now; at <= now + untilMs && waiting.length > 0; at += STEP_MS) {
    for (const entry of back.filter((other) => other.at <= at)) {
      free.set(entry.budget, (free.get(entry.budget) ?? 0) + entry.count);
      entry.count = 0;
    }
    const stays: DrainStep[] = [];
    for (const step of waiting) {
      const outcome = step.askAt <= at ? ask(step, at, free, back) : undefined;
      if (outcome === undefined) stays.push(step);
      else outcomes.push(outcome);
    }
    waiting = stays;
  }
  const never = Number.POSITIVE_INFINITY;
  return [...outcomes, ...waiting.map(({ pod, askAt }) => ({ pod, askedAt: askAt, toldAt: never, endedAt: never }))];
}

function ask(
  step: DrainStep,
  at: number,
  free: Map<string, number>,
  back: { at: number; budget: string; count: number }[],
): Outcome | undefined {
  const { pod, askAt, endBy } = step;
  const [budget, second] = pod.budgets;
  if (second !== undefined) return undefined;
  const left = budget === undefined ? 1 : (free.get(budget) ?? 1);
  if (left <= 0) return undefined;
  const endedAt = at + Math.min(pod.graceMs, Math.max(1000, endBy - at));
  if (budget !== undefined && free.has(budget)) {
    free.set(budget, left - 1);
    const from = pod.comesBack === 'at-once' ? at : pod.comesBack === 'never' ? Number.POSITIVE_INFINITY : endedAt;
    back.push({ at: from + pod.readyMs, budget, count: 1 });
  }
  return { pod, askedAt: askAt, toldAt: at, endedAt };
}
