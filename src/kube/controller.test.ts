import { describe, expect, it } from 'vitest';
import { SpindriftError } from '../platform/errors.ts';
import { Metrics } from '../platform/metrics.ts';
import { VirtualClock } from '../platform/virtual-clock.ts';
import { Controller, type ControllerOptions } from './controller.ts';

function setUp(options: Partial<ControllerOptions> & Pick<ControllerOptions, 'reconcile'>) {
  const clock = new VirtualClock();
  const controller = new Controller({ name: 'test.controller', clock, ...options });
  const stop = new AbortController();
  const running = controller.run(stop.signal);
  const end = async (): Promise<void> => {
    stop.abort(new Error('the end'));
    await clock.run(running);
  };
  return { clock, controller, stop, end };
}

describe('Controller', () => {
  it('reconciles what is in its queue', async () => {
    const seen: string[] = [];
    const { clock, controller, end } = setUp({
      reconcile: async (key) => {
        seen.push(key);
        return undefined;
      },
    });
    controller.queue.add('a');
    controller.queue.add('b');
    await clock.advance(0);
    expect(seen).toEqual(['a', 'b']);
    await end();
  });

  it('works on as many keys at once as it may, and on none twice at once', async () => {
    const active = new Set<string>();
    let most = 0;
    const { clock, controller, end } = setUp({
      concurrency: 3,
      reconcile: async (key) => {
        expect(active).not.toContain(key);
        active.add(key);
        most = Math.max(most, active.size);
        await clock.sleep(100);
        active.delete(key);
        return undefined;
      },
    });
    for (let round = 0; round < 4; round++) {
      for (const key of ['a', 'b', 'c', 'd', 'e']) controller.queue.add(key);
      await clock.advance(70);
    }
    await clock.advance(1000);
    expect(most).toBe(3);
    expect(controller.queue.idle).toBe(true);
    await end();
  });

  it('works on what is urgent although all that it may work on at once hangs', async () => {
    const ended: string[] = [];
    const { clock, controller, end } = setUp({
      ...{ concurrency: 2, urgentConcurrency: 1, queue: { isUrgent: (key) => key.startsWith('urgent') } },
      reconcile: async (key, { signal }) => {
        if (!key.startsWith('urgent')) await clock.sleep(30_000, signal);
        ended.push(key);
        return undefined;
      },
    });
    for (const key of ['a', 'b', 'c', 'urgent 1', 'urgent 2']) controller.queue.add(key);
    await clock.advance(1000);
    expect(ended).toEqual(['urgent 1', 'urgent 2']);
    await clock.advance(60_000);
    expect(ended).toEqual(['urgent 1', 'urgent 2', 'a', 'b', 'c']);
    await end();
  });

  it('comes back when the reconcile asks for it', async () => {
    const times: number[] = [];
    const { clock, controller, end } = setUp({
      reconcile: async () => {
        times.push(clock.elapsed());
        return times.length < 3 ? { requeueAfterMs: 5000 } : undefined;
      },
    });
    controller.queue.add('a');
    await clock.advance(60_000);
    expect(times).toEqual([0, 5000, 10_000]);
    await end();
  });

  it('tries again with back-off after a failure, while other keys go on', async () => {
    const metrics = new Metrics();
    let failures = 0;
    const seen: string[] = [];
    const { clock, controller, end } = setUp({
      metrics,
      reconcile: async (key) => {
        if (key === 'bad' && failures++ < 3) throw new Error('no luck');
        seen.push(key);
        return undefined;
      },
    });
    controller.queue.add('bad');
    controller.queue.add('good');
    await clock.advance(0);
    expect(seen).toEqual(['good']);
    await clock.advance(1000);
    expect(seen).toEqual(['good', 'bad']);
    const labels = { controller: 'test.controller' };
    expect(await metrics.read('controller_runtime_reconcile_errors_total', labels)).toBe(3);
    expect(await metrics.read('controller_runtime_reconcile_total', { ...labels, result: 'success' })).toBe(2);
    await end();
  });

  it('does not hurry to repeat what will fail again, but does not give it up either', async () => {
    const times: number[] = [];
    const { clock, controller, end } = setUp({
      reconcile: async () => {
        times.push(clock.elapsed());
        throw new SpindriftError('KUBE_FORBIDDEN', { message: 'no role' });
      },
    });
    controller.queue.add('a');
    await clock.advance(130_000);
    expect(times).toEqual([0, 60_000, 120_000]);
    await end();
  });

  it('tells a reconcile that takes too long to stop, and goes on', async () => {
    let hung = false;
    const { clock, controller, end } = setUp({
      timeoutMs: 1000,
      reconcile: async (_key, { signal }) => {
        if (hung) return undefined;
        hung = true;
        await clock.sleep(1_000_000, signal);
        return undefined;
      },
    });
    controller.queue.add('a');
    await clock.advance(2000);
    expect(controller.queue.idle).toBe(true);
    await end();
  });

  it('ends when its signal aborts and the work in progress has ended, and leaves no timer behind', async () => {
    let ended = false;
    const { clock, controller, stop, end } = setUp({
      reconcile: async () => {
        await clock.sleep(500);
        ended = true;
        return { requeueAfterMs: 60_000 };
      },
    });
    controller.queue.add('a');
    await clock.advance(10);
    stop.abort(new Error('the end'));
    expect(ended).toBe(false);
    await end();
    expect(ended).toBe(true);
    expect(clock.pending).toBe(0);
  });
});
