/** Whole lives of clusters from a few seeds; `npm run simulate` runs as many as you like. */
import { describe, expect, it } from 'vitest';
import { type Life, live } from './live.ts';

/** The third has nodes with less room than planned, and pods that fail; the last a static pool and a capacity buffer. */
const SEEDS = ['304', '309', '17', '15'];
const HOURS = 1;
/** A life takes seconds; the limit is for hangs, also on a busy machine. */
const LIMIT_MS = 300_000;

describe('a simulated life', () => {
  const lives = new Map<string, Promise<Life>>();
  const lifeOf = (seed: string): Promise<Life> => {
    const life = lives.get(seed) ?? live(seed, HOURS);
    lives.set(seed, life);
    return life;
  };

  it.each(SEEDS)(
    'of seed %s breaks no invariant',
    async (seed) => {
      const { broken, tail } = await lifeOf(seed);
      expect(broken, tail.join('\n')).toEqual([]);
    },
    LIMIT_MS,
  );

  it(
    'comes out the same again, write for write',
    async () => {
      const [seed = ''] = SEEDS;
      expect((await live(seed, HOURS)).digest).toBe((await lifeOf(seed)).digest);
    },
    LIMIT_MS,
  );
});
