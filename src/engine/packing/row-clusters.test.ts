import { describe, expect, it } from 'vitest';
import type { Row } from './pack-problem.ts';
import { breakUp, clusterRows } from './row-clusters.ts';

function rowsOf(...amounts: readonly (readonly [cpu: number, memory: number, marks?: number])[]) {
  const rows = amounts.map(([, , marks = 0]): Row => ({ filter: 0, cell: -1, tier: -1, marks, demand: 1 }));
  return { rows, requests: Float64Array.from(amounts.flatMap((amount) => amount.slice(0, 2) as number[])) };
}

describe('clusters of rows', () => {
  it('take together what their pods take together', () => {
    const { rows, requests } = rowsOf([100, 1], [110, 1], [1000, 4], [1010, 4], [90, 8]);
    const clusters = clusterRows(rows, requests, 2, 3);
    expect(clusters.rows).toHaveLength(3);
    for (const column of [0, 1]) {
      const sum = clusters.rows.reduce(
        (total, { demand }, at) => total + demand * clusters.requests[2 * at + column]!,
        0,
      );
      expect(sum).toBeCloseTo(requests.filter((_, at) => at % 2 === column).reduce((a, b) => a + b));
    }
  });

  it('hold pods that are near to each other', () => {
    const { rows, requests } = rowsOf([100, 1], [1000, 4], [110, 1], [1010, 4]);
    const { clusterOf, largest } = clusterRows(rows, requests, 2, 2);
    expect([clusterOf[0], clusterOf[1]]).toEqual([clusterOf[2], clusterOf[3]]);
    expect(largest[2 * clusterOf[1]!]).toBe(1010);
  });

  it('never hold pods that may not share machines in the same way', () => {
    const { rows, requests } = rowsOf([100, 1, 0], [100, 1, 1], [100, 0, 0]);
    expect(clusterRows(rows, requests, 2, 1).rows).toHaveLength(3);
  });

  it('can be broken up again', () => {
    const { rows, requests } = rowsOf([100, 1], [110, 1], [1000, 4], [1010, 4]);
    const clusters = clusterRows(rows, requests, 2, 2);
    const broken = breakUp(clusters, rows, requests, (cluster) => cluster === clusters.clusterOf[0]);
    expect(broken.rows.map(({ demand }) => demand).sort()).toEqual([1, 1, 2]);
    expect(broken.requests[2 * broken.clusterOf[1]!]).toBe(110);
  });
});
