import type { Criteria } from './criteria.ts';
import type { FleetState } from './fleet-state.ts';

/** The highest price of each new node at which the exchange still saves enough, if its first offering is unavailable. */
export function highestPrices(
  { nodePrice }: Pick<FleetState, 'nodePrice'>,
  news: readonly number[],
  price: number,
  criteria: Criteria,
): number[] {
  const newPrice = news.reduce((sum, node) => sum + (nodePrice[node] as number), 0);
  const spare = Math.max(0, price - newPrice - criteria.wanted(price, true)) / Math.max(1, news.length);
  return news.map((node) => (nodePrice[node] as number) + spare);
}
