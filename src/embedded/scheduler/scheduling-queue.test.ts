import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../platform/virtual-clock.ts';
import { aPod } from '../testkit/objects.ts';
import { makePodClass } from './pod-class.ts';
import { ResourceColumns } from './resource-columns.ts';
import { SchedulingQueue } from './scheduling-queue.ts';

const CLASS = makePodClass(aPod('any'), new ResourceColumns());
const pod = (name: string, priority = 0) => aPod(name, { spec: { priority } });

function aQueue() {
  const clock = new VirtualClock();
  let woken = 0;
  const queue = new SchedulingQueue(clock, () => woken++);
  const drain = (): string[] => {
    const names: string[] = [];
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) names.push(next.pod.metadata.name!);
    return names;
  };
  return { clock, queue, drain, woken: () => woken };
}

describe('pods that wait for a node', () => {
  it('are tried by priority, and those of one priority by age', () => {
    const { queue, drain, woken } = aQueue();
    for (const waiting of [pod('a'), pod('b', 10), pod('c'), pod('d', 10)]) queue.add(waiting);
    expect(drain()).toEqual(['b', 'd', 'a', 'c']);
    expect(woken()).toBe(4);
  });

  it('are tried once, however often they are added before that', () => {
    const { queue, drain } = aQueue();
    queue.add(pod('a'));
    queue.add(pod('a'));
    expect(drain()).toEqual(['a']);
  });

  it('are not tried when they are gone', () => {
    const { queue, drain } = aQueue();
    queue.add(pod('a'));
    queue.remove('default/a');
    expect([drain(), queue.size]).toEqual([[], 0]);
  });

  it('that failed by accident are tried again after a second, then two, at most ten', async () => {
    const { clock, queue, woken } = aQueue();
    queue.add(pod('a'));
    const waits: number[] = [];
    for (let attempt = 0; attempt < 6; attempt++) {
      const [triedAt, before] = [clock.elapsed(), woken()];
      queue.retry(queue.pop()!);
      await clock.runUntil(() => woken() > before, 60_000);
      waits.push(clock.elapsed() - triedAt);
    }
    expect(waits).toEqual([1000, 2000, 4000, 8000, 10_000, 10_000]);
  });

  it('that fit nowhere wait until their class is released, but never before their back-off is over', async () => {
    const { clock, queue, drain } = aQueue();
    queue.add(pod('a'));
    queue.park(queue.pop()!, CLASS);
    await clock.advance(500);
    queue.release(CLASS);
    expect(drain()).toEqual([]);
    await clock.advance(500);
    const waiting = queue.pop()!;
    expect(waiting.pod.metadata.name).toBe('a');
    queue.park(waiting, CLASS);
    await clock.advance(10_000);
    expect([...queue.parkedClasses]).toEqual([CLASS]);
    queue.release(CLASS);
    expect(drain()).toEqual(['a']);
    expect([...queue.parkedClasses]).toEqual([]);
  });

  it('that fit nowhere are released in the order in which they go, when only some can be helped', async () => {
    const { clock, queue, drain } = aQueue();
    for (const waiting of [pod('a'), pod('b', 5), pod('c')]) queue.add(waiting);
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) queue.park(next, CLASS);
    await clock.advance(5_000);
    queue.release(CLASS, 2);
    expect(drain()).toEqual(['b', 'a']);
  });

  it('that fit nowhere are tried again after five minutes in any case', async () => {
    const { clock, queue, drain } = aQueue();
    queue.add(pod('a'));
    queue.park(queue.pop()!, CLASS);
    await clock.advance(299_999);
    expect(drain()).toEqual([]);
    await clock.advance(1);
    expect(drain()).toEqual(['a']);
  });

  it('are tried at once when their spec changed', () => {
    const { queue, drain } = aQueue();
    queue.add(pod('a'));
    queue.park(queue.pop()!, CLASS);
    queue.add(pod('a'));
    expect(drain()).toEqual(['a']);
    expect([...queue.parkedClasses]).toEqual([]);
  });
});
