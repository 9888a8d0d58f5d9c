import { describe, expect, it } from 'vitest';
import { Metrics } from './metrics.ts';

describe('Metrics', () => {
  it('shows a counter as 0 from the start, for each series it was told of', async () => {
    const metrics = new Metrics();
    metrics.counter({
      name: 'things_total',
      help: 'Things',
      labels: ['kind'],
      initial: [{ kind: 'a' }, { kind: 'b' }],
    });
    expect(await metrics.read('things_total', { kind: 'a' })).toBe(0);
    expect(await metrics.text()).toContain('things_total{kind="b"} 0');
    metrics.counter({ name: 'plain_total', help: 'Plain' });
    expect(await metrics.text()).toContain('plain_total 0');
  });

  it('gives the same metric for a name that is asked for twice', async () => {
    const metrics = new Metrics();
    const definition = { name: 'shared_total', help: 'Shared', labels: ['queue'] as const };
    metrics.counter(definition).add({ queue: 'a' });
    metrics.counter(definition).add({ queue: 'a' }, 2);
    expect(await metrics.read('shared_total', { queue: 'a' })).toBe(3);
  });

  it('sets, moves and removes a gauge', async () => {
    const metrics = new Metrics();
    const gauge = metrics.gauge({ name: 'level', help: 'Level', labels: ['tank'] });
    gauge.set({ tank: 'x' }, 5);
    gauge.add({ tank: 'x' }, -2);
    expect(await metrics.read('level', { tank: 'x' })).toBe(3);
    gauge.remove({ tank: 'x' });
    expect(await metrics.read('level', { tank: 'x' })).toBeUndefined();
    expect(await metrics.read('no_such_metric')).toBeUndefined();
  });

  it('counts a histogram into its buckets', async () => {
    const metrics = new Metrics();
    metrics.histogram({ name: 'wait_seconds', help: 'Wait', buckets: [1, 10] }).observe({}, 3);
    const text = await metrics.text();
    expect(text).toContain('wait_seconds_bucket{le="1"} 0');
    expect(text).toContain('wait_seconds_bucket{le="10"} 1');
    expect(text).toContain('wait_seconds_sum 3');
  });

  it('shares nothing between two registries', async () => {
    new Metrics().counter({ name: 'alone_total', help: 'Alone' }).add({});
    expect(await new Metrics().read('alone_total')).toBeUndefined();
  });
});
