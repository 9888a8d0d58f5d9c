import { describe, expect, it } from 'vitest';
import type { Clock } from '../platform/clock.ts';
import { inSlices } from './in-slices.ts';

/** Does so many slices of so many milliseconds each; gives how often others had a turn. */
async function turns(slices: number, milliseconds: number): Promise<number> {
  let elapsed = 0;
  let count = 0;
  const sleep = async (): Promise<void> => void count++;
  const clock = { elapsed: () => elapsed, sleep } as unknown as Clock;
  function* work(): Generator<void, string, void> {
    for (let slice = 0; slice < slices; slice++) {
      elapsed += milliseconds;
      yield;
    }
    return 'done';
  }
  expect(await inSlices(work(), clock, new AbortController().signal)).toBe('done');
  return count;
}

describe('work in slices', () => {
  it('gives others a turn after each slice that takes long, and after several that do not', async () => {
    expect(await turns(10, 10)).toBe(10);
    expect(await turns(10, 2)).toBe(5);
  });

  it('gives others a turn also where no time passes while it works', async () => {
    expect(await turns(80, 0)).toBe(10);
  });
});
