import type { CaseResult } from '../case-result.ts';
import { table } from './table.ts';

/** Prices against what pods would cost that can be cut: for pods of which no two are alike no better bound is known. */
export function fluidTable(results: readonly CaseResult[]): string {
  const rows = results.flatMap((result): string[][] => {
    const { fluid, prices = [], price, lowerBound } = result;
    if (fluid === undefined) return [];
    const over = (amount: number): string => percent(amount / fluid.zones - 1);
    return [
      [
        `${result.family} ${result.name}`,
        fluid.anywhere.toFixed(2),
        fluid.zones.toFixed(2),
        lowerBound.toFixed(2),
        price.toFixed(2),
        percent(price / fluid.anywhere - 1),
        over(price),
        `${over(Math.min(...prices))} to ${over(Math.max(...prices))}`,
      ],
    ];
  });
  if (rows.length === 0) return '';
  const header = ['problem', 'fluid', 'with zones', 'engine says', '$/h', 'over fluid', 'over zones', 'in all runs'];
  return table(header, rows);
}

function percent(share: number): string {
  return `${share < 0 ? '' : '+'}${(100 * share).toFixed(1)} %`;
}
