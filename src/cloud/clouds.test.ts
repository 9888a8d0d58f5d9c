import { expect, it } from 'vitest';
import { VirtualClock } from '../platform/virtual-clock.ts';
import type { Cloud, CloudController } from './cloud.ts';
import { NODE_CLASS_KIND } from './simulated/node-class-kind.ts';
import { openedClouds } from './testkit/opened-clouds.ts';

/** Runs until the signal aborts. */
const LASTING: CloudController = {
  name: 'lasting',
  run: (signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
};

async function cloudsWith(...controllers: readonly CloudController[]) {
  const cloud = { name: 'test', nodeClass: NODE_CLASS_KIND, labels: {}, controllers, noticeSources: [] };
  return openedClouds({ cloud: cloud as unknown as Cloud, clock: new VirtualClock() });
}

it("a cloud's controller that fails ends the run of all of them, as any other controller does", async () => {
  const failing = { name: 'failing', run: () => Promise.reject(new Error('no credentials')) };
  const clouds = await cloudsWith(LASTING, failing);
  await expect(clouds.runControllers(new AbortController().signal)).rejects.toThrow('no credentials');
});

it("clouds' controllers run until the signal aborts", async () => {
  const clouds = await cloudsWith(LASTING);
  const stop = new AbortController();
  const run = clouds.runControllers(stop.signal);
  stop.abort();
  await expect(run).resolves.toBeUndefined();
});
