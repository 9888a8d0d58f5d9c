/** Whole lives of clusters from a few seeds; `npm run simulate` lives as many as one likes. */
import { describe, expect, it } from 'vitest';
import { live } from './live.ts';

const HOURS = 1;

describe('a simulated life', () => {
  it.each(['1', '2', '3', '4'])('of seed %s breaks no invariant', async (seed) => {
    const { broken, tail } = await live(seed, HOURS);
    expect(broken, tail.join('\n')).toEqual([]);
  });

  it('comes out the same again, write for write', async () => {
    const [one, other] = [await live('5', 0.5), await live('5', 0.5)];
    expect(other.digest).toBe(one.digest);
    expect(one.broken).toEqual([]);
  });
});
