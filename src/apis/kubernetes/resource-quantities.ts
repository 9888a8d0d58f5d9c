import type { ResourceList } from './pod.ts';
import { formatQuantity, quantityOf, quantityOfMilli } from './quantity.ts';

/** Amounts by resource (`cpu` in millicores, everything else in units, rounded up) as manifests write them. */
export function quantities(amounts: Readonly<Record<string, number>>): ResourceList {
  return Object.fromEntries(
    Object.entries(amounts).map(([name, amount]) => {
      if (name === 'cpu') return [name, formatQuantity(quantityOfMilli(Math.ceil(amount)))];
      const binary = name === 'memory' || name.includes('storage') || name.startsWith('hugepages-');
      return [name, formatQuantity(quantityOf(Math.ceil(amount), binary ? 'BinarySI' : 'DecimalSI'))];
    }),
  );
}
