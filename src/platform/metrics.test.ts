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

  it('counts a gauge when it is asked for', async () => {
    const metrics = new Metrics();
    let pods = 1;
    const definition = { name: 'pods', help: 'Pods', labels: ['name'] as const };
    metrics.counted(definition, () => Array.from({ length: pods }, (_, index) => [{ name: `pod-${index}` }, index]));
    metrics.counted({ name: 'best', help: 'Best' }, () => [undefined, [{}, Number.POSITIVE_INFINITY]]);
    expect(await metrics.read('pods', { name: 'pod-1' })).toBeUndefined();
    pods = 2;
    expect(await metrics.read('pods', { name: 'pod-1' })).toBe(1);
    const text = await metrics.text();
    expect(text).toContain('# HELP pods Pods\n# TYPE pods gauge\npods{name="pod-0"} 0\npods{name="pod-1"} 1\n');
    expect(text).toContain('best +Inf\n');
  });

  it('writes labels so that they can be read again', async () => {
    const metrics = new Metrics();
    const name = 'a "quoted"\\ name\nof two lines';
    metrics.counted({ name: 'odd', help: 'Odd', labels: ['name'] }, () => [[{ name }, 1]]);
    expect(await metrics.text()).toContain('odd{name="a \\"quoted\\"\\\\ name\\nof two lines"} 1\n');
  });

  it('lets others have a turn while it counts what takes long', async () => {
    const metrics = new Metrics();
    metrics.counted({ name: 'slow', help: 'Slow', labels: ['number'] }, function* () {
      for (let number = 0; number < 64; number++) {
        for (const end = performance.now() + 0.5; performance.now() < end; );
        yield [{ number: `${number}` }, number];
      }
    });
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    const text = await metrics.text();
    clearInterval(timer);
    expect(turns).toBeGreaterThan(0);
    expect(text.match(/^slow\{/gm)).toHaveLength(64);
  });

  it('describes every metric', () => {
    const metrics = new Metrics();
    metrics.gauge({ name: 'level', help: 'Level', labels: ['tank'] });
    metrics.counted({ name: 'counted', help: 'Counted', labels: ['name'] }, () => []);
    metrics.histogram({ name: 'wait_seconds', help: 'Wait' });
    expect(metrics.descriptions()).toEqual([
      { name: 'counted', type: 'gauge', help: 'Counted', labels: ['name'] },
      { name: 'level', type: 'gauge', help: 'Level', labels: ['tank'] },
      { name: 'wait_seconds', type: 'histogram', help: 'Wait', labels: [] },
    ]);
  });

  it('shares nothing between two registries', async () => {
    new Metrics().counter({ name: 'alone_total', help: 'Alone' }).add({});
    expect(await new Metrics().read('alone_total')).toBeUndefined();
  });
});
