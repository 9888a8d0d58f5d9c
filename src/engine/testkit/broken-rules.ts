import type { Problem } from '../problem.ts';
import { verify } from '../verify/verify.ts';
import type { Rule } from '../verify/violation.ts';
import { aPlan, type StatedPlan } from './plan-builder.ts';

/** The rules that a hand-written plan breaks, each listed once. */
export function brokenRules(problem: Problem, stated: StatedPlan): Rule[] {
  return [...new Set(verify(problem, aPlan(problem, stated)).map(({ rule }) => rule))];
}
