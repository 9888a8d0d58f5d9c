/** Taints and tolerations, as kube-scheduler matches them. */
import type { Taint, Toleration } from '../problem.ts';

/** Whether a toleration tolerates a taint. */
export function tolerates(toleration: Toleration, taint: Taint): boolean {
  // Empty fields mean the same as absent ones.
  if (toleration.effect && toleration.effect !== taint.effect) return false;
  const key = toleration.key ?? '';
  if (key !== '' && key !== taint.key) return false;
  const operator = toleration.operator || 'Equal';
  if (operator === 'Exists') return true;
  if (key === '') return false;
  if (operator === 'Equal') return (toleration.value ?? '') === (taint.value ?? '');
  const actual = Number(taint.value);
  const bound = Number(toleration.value);
  return operator === 'Gt' ? actual > bound : actual < bound;
}

/** The first taint that keeps a pod with these tolerations off a node; PreferNoSchedule never does. */
export function untolerated(
  taints: readonly Taint[] | undefined,
  tolerations: readonly Toleration[] | undefined,
): Taint | undefined {
  return taints?.find(
    (taint) => taint.effect !== 'PreferNoSchedule' && !tolerations?.some((toleration) => tolerates(toleration, taint)),
  );
}

/** Whether a PreferNoSchedule taint discourages a pod with these tolerations. */
export function discouraged(
  taints: readonly Taint[] | undefined,
  tolerations: readonly Toleration[] | undefined,
): boolean {
  return (
    taints?.some(
      (taint) =>
        taint.effect === 'PreferNoSchedule' && !tolerations?.some((toleration) => tolerates(toleration, taint)),
    ) ?? false
  );
}
