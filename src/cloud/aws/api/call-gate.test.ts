import { expect, it } from 'vitest';
import { seededRandom } from '../../../platform/random.ts';
import { VirtualClock } from '../../../platform/virtual-clock.ts';
import { CallGate } from './call-gate.ts';

const { signal } = new AbortController();

/** An API that accepts a number of calls per second and throttles the rest, with callers that retry at once. */
async function run(calls: number, ratePerSecond: number, callers = 50) {
  const clock = new VirtualClock();
  const gate = new CallGate(clock, seededRandom('gate'));
  let [left, refused, tokens, filledAt] = [calls, 0, ratePerSecond, 0];
  const call = async (): Promise<void> => {
    while (left > 0) {
      await gate.pass('launch', signal);
      await clock.sleep(20);
      tokens = Math.min(ratePerSecond, tokens + ((clock.elapsed() - filledAt) / 1000) * ratePerSecond);
      filledAt = clock.elapsed();
      if (tokens >= 1) {
        tokens--;
        left--;
        gate.succeeded('launch');
      } else {
        refused++;
        gate.throttled('launch');
      }
    }
  };
  let ended = false;
  const all = Promise.all(Array.from({ length: callers }, call)).then(() => {
    ended = true;
  });
  while (!ended) await clock.advance(1000);
  await all;
  return { seconds: clock.elapsed() / 1000, refused };
}

it('holds nothing back that AWS does not refuse', async () => {
  const { seconds, refused } = await run(1000, 10_000);
  expect(refused).toBe(0);
  expect(seconds).toBeLessThan(2);
});

it.each([2, 5, 20])('finds the rate of an API that takes %d calls a second', async (rate) => {
  const calls = 500;
  const { seconds, refused } = await run(calls, rate);
  expect(refused).toBeLessThan(calls / 2);
  expect(seconds).toBeLessThan((2 * calls) / rate);
});

it('slows down only the kind of call that was refused', async () => {
  const clock = new VirtualClock();
  const gate = new CallGate(clock, seededRandom('gate'));
  gate.throttled('launch');
  await gate.pass('describe', signal);
  let passed = false;
  const launch = gate.pass('launch', signal).then(() => {
    passed = true;
  });
  await clock.advance(500);
  expect(passed).toBe(false);
  await clock.advance(600);
  await launch;
});
