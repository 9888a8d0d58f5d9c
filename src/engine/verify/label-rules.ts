/** What requirements, selectors and tolerations mean, one at a time, as Kubernetes documents them. */
import type { LabelSelector, Labels, Requirement, Taint, Toleration } from '../problem.ts';

/** Tells whether a requirement holds for the value of its label; undefined is a label that is not there. */
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

/** Tells whether a label selector selects an object with these labels: an absent one nothing, an empty one everything. */
export function selects(selector: LabelSelector | undefined, labels: Labels = {}): boolean {
  if (selector === undefined) return false;
  return (
    Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels[key] === value) &&
    (selector.matchExpressions ?? []).every(({ key, operator, values = [] }) =>
      holds({ key, operator, values }, labels[key]),
    )
  );
}

/** Tells whether a toleration tolerates the taint. */
export function tolerates(toleration: Toleration, taint: Taint): boolean {
  if (toleration.effect !== undefined && toleration.effect !== taint.effect) return false;
  if (toleration.key !== undefined && toleration.key !== taint.key) return false;
  switch (toleration.operator ?? 'Equal') {
    case 'Exists':
      return true;
    case 'Equal':
      return toleration.key !== undefined && (toleration.value ?? '') === (taint.value ?? '');
    case 'Gt':
      return compare(taint.value, toleration.value, (actual, bound) => actual > bound);
    case 'Lt':
      return compare(taint.value, toleration.value, (actual, bound) => actual < bound);
  }
}

/** Taints that keep a pod away for good; PreferNoSchedule is only a wish. */
export function untolerated(taints: readonly Taint[] = [], tolerations: readonly Toleration[] = []): Taint[] {
  return taints.filter(
    (taint) => taint.effect !== 'PreferNoSchedule' && !tolerations.some((toleration) => tolerates(toleration, taint)),
  );
}
