/** Matches tolerations with taints. */
import type { Taint } from './node.ts';
import type { Toleration } from './pod.ts';

export type TaintEffect = Taint['effect'];

/** Taints that Kubernetes itself sets. */
export const TAINT_NOT_READY = 'node.kubernetes.io/not-ready';
export const TAINT_UNREACHABLE = 'node.kubernetes.io/unreachable';
export const TAINT_UNSCHEDULABLE = 'node.kubernetes.io/unschedulable';
export const TAINT_MEMORY_PRESSURE = 'node.kubernetes.io/memory-pressure';
export const TAINT_DISK_PRESSURE = 'node.kubernetes.io/disk-pressure';
export const TAINT_PID_PRESSURE = 'node.kubernetes.io/pid-pressure';
export const TAINT_NETWORK_UNAVAILABLE = 'node.kubernetes.io/network-unavailable';
export const TAINT_OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service';

/** A decimal integer as the API accepts it for comparisons: no plus sign, no leading zeros. */
const DECIMAL_INTEGER = /^(0|-?[1-9]\d*)$/;

/** Tells whether one toleration covers a taint. */
export function tolerates(toleration: Toleration, taint: Taint): boolean {
  if (toleration.effect && toleration.effect !== taint.effect) return false;
  if (toleration.key && toleration.key !== taint.key) return false;
  switch (toleration.operator || 'Equal') {
    case 'Equal':
      return (toleration.value ?? '') === (taint.value ?? '');
    case 'Exists':
      return true;
    case 'Lt':
      return compare(taint.value, toleration.value) < 0;
    case 'Gt':
      return compare(taint.value, toleration.value) > 0;
    default:
      return false;
  }
}

/** The first taint of one of these effects that no toleration covers. */
export function untoleratedTaint(
  taints: readonly Taint[] | undefined,
  tolerations: readonly Toleration[] | undefined,
  effects: readonly TaintEffect[],
): Taint | undefined {
  return taints?.find(
    (taint) => effects.includes(taint.effect) && !tolerations?.some((toleration) => tolerates(toleration, taint)),
  );
}

/** Adds tolerations, except those whose key, operator and effect exist already. */
export function addTolerations(
  present: readonly Toleration[] | undefined,
  wanted: readonly Toleration[],
): readonly Toleration[] {
  const missing = wanted.filter(
    (toleration) =>
      !present?.some(
        (other) =>
          other.key === toleration.key && other.operator === toleration.operator && other.effect === toleration.effect,
      ),
  );
  return missing.length === 0 && present !== undefined ? present : [...(present ?? []), ...missing];
}

/** NaN, which is neither more nor less, when one of the two is not a number. */
function compare(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined || !DECIMAL_INTEGER.test(a) || !DECIMAL_INTEGER.test(b)) return Number.NaN;
  const difference = BigInt(a) - BigInt(b);
  return difference === 0n ? 0 : difference < 0n ? -1 : 1;
}
