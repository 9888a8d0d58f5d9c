import type { IntOrPercent } from '../../apis/kubernetes/workloads.ts';

/** Converts a number or a percentage such as `25%` to a count. */
export function scaledValue(value: IntOrPercent, of: number, round: 'up' | 'down'): number {
  if (typeof value === 'number') return value;
  const match = /^(\d+)(%?)$/.exec(value);
  if (match === null) return 0;
  if (match[2] === '') return Number(match[1]);
  const share = (Number(match[1]) * of) / 100;
  return round === 'up' ? Math.ceil(share) : Math.floor(share);
}
