/** Whole lives of clusters from a few seeds; `npm run simulate` lives as many as one likes. */
import { describe, expect, it } from 'vitest';
import { type Life, live } from './live.ts';

const SEEDS = ['1', '2', '3'];
const HOURS = 1;

describe('a simulated life', () => {
  const lives = new Map<string, Promise<Life>>();
  const lifeOf = (seed: string): Promise<Life> => {
    const life = lives.get(seed) ?? live(seed, HOURS);
    lives.set(seed, life);
    return life;
  };

  it.each(SEEDS)('of seed %s breaks no invariant', async (seed) => {
    const { broken, tail } = await lifeOf(seed);
    expect(broken, tail.join('\n')).toEqual([]);
  });

  it('comes out the same again, write for write', async () => {
    const [seed = ''] = SEEDS;
    expect((await live(seed, HOURS)).digest).toBe((await lifeOf(seed)).digest);
  });
});
