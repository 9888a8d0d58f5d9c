import type { ResourceAmounts } from '../../apis/kubernetes/pod-requests.ts';

/** Amounts in base units for metrics: cores, bytes and counts. */
export function inBaseUnits(amounts: ResourceAmounts): [resource: string, amount: number][] {
  return Object.entries(amounts).map(([name, amount]) => [
    name,
    name === 'cpu' ? Number(amount) / 1000 : Number(amount),
  ]);
}
