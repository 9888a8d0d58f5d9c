import { describe, expect, it } from 'vitest';
import { Metrics } from '../platform/metrics.ts';
import { VirtualClock } from '../platform/virtual-clock.ts';
import { WorkQueue } from './work-queue.ts';

function setUp(options: Partial<ConstructorParameters<typeof WorkQueue>[0]> = {}) {
  const clock = new VirtualClock();
  const queue = new WorkQueue({ name: 'test', clock, ...options });
  const stop = new AbortController();
  /** The keys that can be had now, in order; each is left in progress. */
  const takeAll = async (): Promise<string[]> => {
    const keys: string[] = [];
    while (queue.depth > 0) keys.push(await queue.get(stop.signal));
    return keys;
  };
  return { clock, queue, stop, takeAll };
}

describe('WorkQueue', () => {
  it('hands out a key once, however often it was added', async () => {
    const { queue, takeAll } = setUp();
    for (const key of ['a', 'b', 'a', 'a', 'b']) queue.add(key);
    expect(await takeAll()).toEqual(['a', 'b']);
  });

  it('hands out a key that was added during the work on it again, but only after that work', async () => {
    const { queue, takeAll } = setUp();
    queue.add('a');
    expect(await takeAll()).toEqual(['a']);
    queue.add('a');
    expect(await takeAll()).toEqual([]);
    queue.done('a');
    expect(await takeAll()).toEqual(['a']);
    queue.done('a');
    expect(queue.idle).toBe(true);
  });

  it('hands out what is urgent first, as it is when its turn comes and not when it was added', async () => {
    const urgent = new Set(['b']);
    const { clock, queue, takeAll } = setUp({ isUrgent: (key) => urgent.has(key) });
    for (const key of ['a', 'b', 'c']) queue.add(key, { afterMs: 10 });
    urgent.delete('b');
    urgent.add('c');
    await clock.advance(10);
    expect(await takeAll()).toEqual(['c', 'a', 'b']);
  });

  it('hands out what has become urgent while it was ready first, once it is added again', async () => {
    const urgent = new Set<string>();
    const { queue, takeAll } = setUp({ isUrgent: (key) => urgent.has(key) });
    for (const key of ['a', 'b']) queue.add(key);
    urgent.add('b');
    queue.add('b');
    expect(await takeAll()).toEqual(['b', 'a']);
  });

  it('gives those who wait for what is urgent nothing else, and only when nobody else waits', async () => {
    const urgent = new Set(['b', 'c']);
    const { clock, queue, stop } = setUp({ isUrgent: (key) => urgent.has(key) });
    const taken: string[] = [];
    const take = (who: string, urgentOnly: boolean): void =>
      void queue.get(stop.signal, { urgentOnly }).then(
        (key) => taken.push(`${who} ${key}`),
        () => {},
      );
    take('kept', true);
    take('any', false);
    for (const key of ['b', 'a', 'c']) queue.add(key);
    await clock.advance(0);
    expect(taken).toEqual(['any b', 'kept c']);
    expect(queue.depth).toBe(1);
    take('kept', true);
    await clock.advance(0);
    expect(taken).toHaveLength(2);
    urgent.add('a');
    queue.add('a');
    await clock.advance(0);
    expect(taken.at(-1)).toBe('kept a');
    stop.abort();
  });

  it('keeps the earliest of several delays', async () => {
    const { clock, queue, takeAll } = setUp();
    queue.add('a', { afterMs: 1000 });
    queue.add('a', { afterMs: 500 });
    queue.add('a', { afterMs: 2000 });
    await clock.advance(499);
    expect(await takeAll()).toEqual([]);
    await clock.advance(1);
    expect(await takeAll()).toEqual(['a']);
    queue.done('a');
    await clock.advance(10_000);
    expect(await takeAll()).toEqual([]);
  });

  it('takes an add without a delay as now', async () => {
    const { clock, queue, takeAll } = setUp();
    queue.add('a', { afterMs: 1000 });
    queue.add('a');
    expect(await takeAll()).toEqual(['a']);
    queue.done('a');
    await clock.advance(5000);
    expect(await takeAll()).toEqual([]);
  });

  it('hands out higher priorities first, and raises the priority of a key that waits already', async () => {
    const { queue, takeAll } = setUp();
    queue.add('resync', { priority: -1 });
    queue.add('plain');
    queue.add('urgent', { priority: 5 });
    queue.add('late');
    queue.add('resync', { priority: 9 });
    expect(await takeAll()).toEqual(['resync', 'urgent', 'plain', 'late']);
  });

  it('waits twice as long after each failure, up to a limit, until the key is forgotten', async () => {
    const { clock, queue, takeAll } = setUp({ baseDelayMs: 100, maxDelayMs: 400 });
    const waits: number[] = [];
    const fail = async (): Promise<void> => {
      const from = clock.elapsed();
      queue.addRateLimited('a');
      await clock.runUntil(() => queue.depth > 0, 10_000);
      waits.push(clock.elapsed() - from);
      await takeAll();
      queue.done('a');
    };
    for (let failure = 0; failure < 5; failure++) await fail();
    queue.forget('a');
    await fail();
    expect(waits).toEqual([100, 200, 400, 400, 400, 100]);
  });

  it('holds all retries together to a rate', async () => {
    const { clock, queue, takeAll } = setUp({ baseDelayMs: 1, retriesPerSecond: 10, retryBurst: 5 });
    for (let index = 0; index < 25; index++) queue.addRateLimited(`key-${index}`);
    await clock.advance(1);
    expect(await takeAll()).toHaveLength(5);
    await clock.advance(1000);
    expect(await takeAll()).toHaveLength(10);
  });

  it('wakes those who wait, in the order they came', async () => {
    const { queue, stop } = setUp();
    const first = queue.get(stop.signal);
    const second = queue.get(stop.signal);
    queue.add('a');
    queue.add('b');
    expect(await Promise.all([first, second])).toEqual(['a', 'b']);
  });

  it('lets a waiter go when its signal aborts, and loses no key by that', async () => {
    const { queue, stop } = setUp();
    const impatient = new AbortController();
    const given = queue.get(impatient.signal);
    const patient = queue.get(stop.signal);
    impatient.abort(new Error('gone'));
    await expect(given).rejects.toThrow('gone');
    await expect(queue.get(impatient.signal)).rejects.toThrow('gone');
    queue.add('a');
    expect(await patient).toBe('a');
  });

  it('leaves no timer behind when it is closed', () => {
    const { clock, queue } = setUp();
    queue.add('a', { afterMs: 60_000 });
    queue.close();
    expect(clock.pending).toBe(0);
    expect(queue.idle).toBe(true);
  });

  it('tells its depth, adds and retries', async () => {
    const metrics = new Metrics();
    const { clock, queue, takeAll } = setUp({ metrics });
    queue.add('a');
    queue.add('a');
    queue.addRateLimited('b');
    expect(await metrics.read('workqueue_depth', { name: 'test' })).toBe(1);
    await clock.advance(10);
    expect(await metrics.read('workqueue_adds_total', { name: 'test' })).toBe(2);
    expect(await metrics.read('workqueue_retries_total', { name: 'test' })).toBe(1);
    await takeAll();
    expect(await metrics.read('workqueue_depth', { name: 'test' })).toBe(0);
  });
});
