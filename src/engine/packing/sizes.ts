/** The share of the total requests that a pod of each row takes, summed over all resources. */
export function sizesOf(
  requests: Float64Array,
  dimensions: number,
  rows: readonly { readonly demand: number }[],
): Float64Array {
  const total = new Float64Array(dimensions);
  rows.forEach(({ demand }, row) => {
    for (let column = 0; column < dimensions; column++) {
      total[column] = (total[column] as number) + demand * (requests[row * dimensions + column] as number);
    }
  });
  return Float64Array.from(rows, (_, row) => {
    let sum = 0;
    for (let column = 0; column < dimensions; column++) {
      const all = total[column] as number;
      if (all > 0) sum += (requests[row * dimensions + column] as number) / all;
    }
    return sum;
  });
}
