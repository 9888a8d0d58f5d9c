/** Options from cheap to expensive; equal prices by number. */
export function byPrice(price: Float64Array): Int32Array {
  // Sorting the prices alone and finding each again is faster than sorting with a comparator.
  const prices = price.slice().sort();
  const next = new Int32Array(prices.length);
  let distinct = 0;
  for (let at = 0; at < prices.length; at++) {
    if (distinct > 0 && prices[at] === prices[distinct - 1]) continue;
    prices[distinct] = prices[at] as number;
    next[distinct++] = at;
  }
  const result = new Int32Array(price.length);
  for (let option = 0; option < price.length; option++) {
    let low = 0;
    let high = distinct - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((prices[middle] as number) < (price[option] as number)) low = middle + 1;
      else high = middle;
    }
    const at = next[low] as number;
    result[at] = option;
    next[low] = at + 1;
  }
  return result;
}
