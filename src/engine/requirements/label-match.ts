/** Whether concrete labels satisfy requirements and selectors, exactly as kube-scheduler decides it. */
import type { LabelSelector, Requirement } from '../problem.ts';

const INTEGER = /^[+-]?\d+$/;

/** Whether a node whose label has this value (or lacks the label) satisfies one requirement. */
export function satisfies(requirement: Requirement, value: string | undefined): boolean {
  switch (requirement.operator) {
    case 'In':
      return value !== undefined && requirement.values.includes(value);
    case 'NotIn':
      return value === undefined || !requirement.values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      return value !== undefined && INTEGER.test(value) && compare(requirement, Number(value));
  }
}

function compare(requirement: Requirement, value: number): boolean {
  const bound = Number(requirement.values[0]);
  switch (requirement.operator) {
    case 'Gt':
      return value > bound;
    case 'Gte':
      return value >= bound;
    case 'Lt':
      return value < bound;
    default:
      return value <= bound;
  }
}

/** Whether a selector selects these labels; an absent selector selects nothing, an empty one everything. */
export function selects(selector: LabelSelector | undefined, labels: Readonly<Record<string, string>>): boolean {
  if (selector === undefined) return false;
  for (const key in selector.matchLabels) {
    if (labels[key] !== selector.matchLabels[key]) return false;
  }
  for (const expression of selector.matchExpressions ?? []) {
    if (!satisfies({ ...expression, values: expression.values ?? [] }, labels[expression.key])) return false;
  }
  return true;
}
