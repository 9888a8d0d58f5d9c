/** The meaning of single requirements, selectors and tolerations, as documented by Kubernetes. */
import type { LabelSelector, Labels, Requirement, Taint, Toleration } from '../problem.ts';

/** Whether a requirement holds for the value of its label; undefined means the label is absent. */
export function holds({ operator, values }: Requirement, value: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return compare(value, values[0], (actual, bound) => actual > bound);
    case 'Gte':
      return compare(value, values[0], (actual, bound) => actual >= bound);
    case 'Lt':
      return compare(value, values[0], (actual, bound) => actual < bound);
    case 'Lte':
      return compare(value, values[0], (actual, bound) => actual <= bound);
  }
}

function compare(
  value: string | undefined,
  bound: string | undefined,
  test: (a: bigint, b: bigint) => boolean,
): boolean {
  if (value === undefined || bound === undefined) return false;
  const whole = /^[+-]?\d+$/;
  return whole.test(value) && whole.test(bound) && test(BigInt(value), BigInt(bound));
}

/** Whether a label selector selects an object with these labels. An absent selector selects nothing, an empty one everything. */
export function selects(selector: LabelSelector | undefined, labels: Labels = {}): boolean {
  if (selector === undefined) return false;
  return (
    Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels[key] === value) &&
    (selector.matchExpressions ?? []).every(({ key, operator, values = [] }) =>
      holds({ key, operator, values }, labels[key]),
    )
  );
}

/** Whether a toleration tolerates the taint. */
export function tolerates(toleration: Toleration, taint: Taint): boolean {
  if (toleration.effect && toleration.effect !== taint.effect) return false;
  if (toleration.key && toleration.key !== taint.key) return false;
  switch (toleration.operator || 'Equal') {
    case 'Exists':
      return true;
    case 'Equal':
      return Boolean(toleration.key) && (toleration.value ?? '') === (taint.value ?? '');
    case 'Gt':
      return compare(taint.value, toleration.value, (actual, bound) => actual > bound);
    case 'Lt':
      return compare(taint.value, toleration.value, (actual, bound) => actual < bound);
  }
}

/** The taints that keep a pod off a node; PreferNoSchedule is only a preference. */
export function untolerated(taints: readonly Taint[] = [], tolerations: readonly Toleration[] = []): Taint[] {
  return taints.filter(
    (taint) => taint.effect !== 'PreferNoSchedule' && !tolerations.some((toleration) => tolerates(toleration, taint)),
  );
}
