import { describe, expect, it, vi } from 'vitest';
import { SpindriftError } from '../../../platform/errors.ts';
import { SILENT_LOGGER } from '../../../platform/logger.ts';
import { Metrics } from '../../../platform/metrics.ts';
import { VirtualClock } from '../../../platform/virtual-clock.ts';
import type { ReceivedNotice } from '../../notice.ts';
import { SqsNoticeSource, type SqsNoticeSourceOptions } from './sqs-notice-source.ts';
import { FakeQueue } from './testkit/fake-queue.ts';
import { healthEvent, spotWarning, stateChange } from './testkit/messages.ts';

const id = (number: number): string => `i-${number.toString(16).padStart(17, '0')}`;

function world(parts: Partial<SqsNoticeSourceOptions> = {}) {
  const clock = new VirtualClock();
  const queue = new FakeQueue(clock);
  const metrics = new Metrics();
  const warn = vi.fn();
  const logger = { ...SILENT_LOGGER, warn, info: vi.fn() };
  const source = new SqsNoticeSource({ clock, logger, metrics, queue, isKnown: () => true, ...parts });
  const heard: ReceivedNotice[] = [];
  const stop = new AbortController();
  const run = (async () => {
    for await (const notice of source.receive(stop.signal)) heard.push(notice);
  })();
  const end = async () => {
    stop.abort();
    await run;
  };
  const acknowledge = () => Promise.all(heard.map((notice) => notice.acknowledge(stop.signal)));
  return { clock, queue, metrics, heard, warn, logger, end, acknowledge };
}

describe('the notices of an SQS queue', () => {
  it('are handed over, and their messages deleted once they are acknowledged', async () => {
    const { clock, queue, heard, end, acknowledge } = world();
    queue.send(spotWarning(id(1)));
    await clock.advance(200);
    expect(heard).toMatchObject([{ kind: 'spot-interruption', machine: id(1), source: 'sqs' }]);
    expect(queue.size).toBe(1);
    await clock.run(acknowledge());
    expect(queue.size).toBe(0);
    await end();
  });

  it('stay hidden for as long as they are worked on, ten in a call, and come again when their process has died', async () => {
    const { clock, queue, heard, end } = world();
    for (let each = 0; each < 20; each++) queue.send(spotWarning(id(each)));
    await clock.advance(120_000);
    expect(heard).toHaveLength(20);
    expect(queue.calls.hide).toBeLessThanOrEqual(2 * 8);
    await end();
    await clock.advance(40_000);
    const again = await queue.receive({ waitSeconds: 0, visibilitySeconds: 1, signal: new AbortController().signal });
    expect(again).toHaveLength(10);
  });

  it('are left in the queue by a check, which says what is wrong with it', async () => {
    const clock = new VirtualClock();
    const queue = new FakeQueue(clock);
    const { signal } = new AbortController();
    const source = new SqsNoticeSource({ clock, logger: SILENT_LOGGER, metrics: new Metrics(), queue });
    queue.send(spotWarning(id(1)));
    await source.check(signal);
    expect(await queue.receive({ waitSeconds: 0, visibilitySeconds: 1, signal })).toHaveLength(1);
    queue.failure = new SpindriftError('CLOUD_DENIED', { operation: 'ReceiveMessage', problem: 'no' });
    await expect(source.check(signal)).rejects.toThrow('ReceiveMessage was denied');
  });

  it('come again to ourselves when the work hangs for ten minutes', async () => {
    const { clock, queue, heard, end } = world();
    queue.send(spotWarning(id(1)));
    await clock.advance(660_000);
    expect(heard).toHaveLength(2);
    await end();
  });

  it('of machines that are not ours are deleted in batches, with no other call, and counted', async () => {
    const { clock, queue, heard, metrics, end } = world({ isKnown: (machine) => machine === id(7) });
    for (let each = 0; each < 1000; each++) queue.send(spotWarning(id(each)));
    await clock.advance(5000);
    expect(heard.map(({ machine }) => machine)).toEqual([id(7)]);
    expect(queue.size).toBe(1);
    expect(queue.calls.delete).toBeLessThanOrEqual(110);
    expect(queue.calls.receive).toBeLessThanOrEqual(130);
    const labels = { message_type: 'spot_interrupted' };
    expect(await metrics.read('spindrift_interruption_foreign_messages_total', labels)).toBe(999);
    expect(await metrics.read('karpenter_interruption_deleted_messages_total')).toBe(999);
    await end();
  });

  it('of an unknown machine wait for a launch that is under way, and are foreign when it was another', async () => {
    const known = new Set<string>();
    const { clock, queue, heard, end } = world({ isKnown: (machine) => known.has(machine), isLaunching: () => true });
    queue.send(spotWarning(id(1)), spotWarning(id(2)));
    await clock.advance(5000);
    expect([heard.length, queue.size]).toEqual([0, 2]);
    known.add(id(1));
    await clock.advance(1000);
    expect(heard.map(({ machine }) => machine)).toEqual([id(1)]);
    await clock.advance(20_000);
    expect(queue.size).toBe(1);
    await end();
  });

  it('give a spot warning before state changes that arrived earlier', async () => {
    const clock = new VirtualClock();
    const queue = new FakeQueue(clock);
    const source = new SqsNoticeSource({ clock, logger: SILENT_LOGGER, metrics: new Metrics(), queue });
    queue.send(stateChange(id(1), 'terminated'), stateChange(id(2), 'stopping'), spotWarning(id(3)));
    const stop = new AbortController();
    const kinds: string[] = [];
    await clock.run(
      (async () => {
        for await (const { kind } of source.receive(stop.signal)) {
          kinds.push(kind);
          if (kinds.length === 3) stop.abort();
        }
      })(),
    );
    expect(kinds).toEqual(['spot-interruption', 'terminated', 'stopping']);
  });

  it('of one message about several machines keep it until all of ours are dealt with', async () => {
    const { clock, queue, heard, end } = world({ isKnown: (machine) => machine !== id(3) });
    queue.send(healthEvent([1, 2, 3].map((each) => ({ entityValue: id(each) }))));
    await clock.advance(200);
    expect(heard.map(({ machine }) => machine)).toEqual([id(1), id(2)]);
    const never = new AbortController().signal;
    await clock.run(Promise.all([heard[0]?.acknowledge(never), heard[0]?.acknowledge(never)]));
    expect(queue.size).toBe(1);
    await clock.run(heard[1]?.acknowledge(never) as Promise<void>);
    expect(queue.size).toBe(0);
    await end();
  });

  it('of a capacity block are about every machine of ours in it', async () => {
    const { clock, queue, heard, end } = world({ machinesOf: () => [id(1), id(2)] });
    const detail = { 'capacity-reservation-id': 'cr-0123456789abcdef0', 'end-date': '2030-01-01T00:40:00Z' };
    queue.send({ ...spotWarning(''), 'detail-type': 'Capacity Block Reservation Expiration Warning', detail });
    await clock.advance(200);
    expect(heard.map(({ machine }) => machine)).toEqual([id(1), id(2)]);
    await end();
  });

  it('that are junk or harmless end there, counted by kind', async () => {
    const { clock, queue, heard, metrics, end } = world();
    queue.send('{', '', [], { Event: 'autoscaling:TEST_NOTIFICATION' }, stateChange(id(1), 'running'));
    await clock.advance(500);
    expect([heard.length, queue.size]).toEqual([0, 0]);
    const counted = (kind: string) =>
      metrics.read('karpenter_interruption_received_messages_total', { message_type: kind });
    expect(await Promise.all([counted('junk'), counted('lifecycle_action'), counted('no_op')])).toEqual([3, 1, 1]);
    await end();
  });

  it('whose delete fails are not acknowledged, and can be again', async () => {
    const { clock, queue, heard, end, acknowledge } = world();
    queue.send(spotWarning(id(1)));
    queue.undeletable.add(0);
    await clock.advance(200);
    await expect(clock.run(acknowledge())).rejects.toMatchObject({ code: 'CLOUD_UNAVAILABLE' });
    queue.undeletable.clear();
    await clock.run(acknowledge());
    expect([heard.length, queue.size]).toEqual([1, 0]);
    await end();
  });

  it('are waited for when the queue is missing, which is said once, and so is its return', async () => {
    const { clock, queue, heard, warn, logger, metrics, end } = world();
    queue.failure = new SpindriftError('AWS_QUEUE_MISSING', { queue: 'fake' });
    await clock.advance(600_000);
    expect(warn).toHaveBeenCalledTimes(1);
    expect(queue.calls.receive).toBeLessThan(40);
    const failures = { error: 'AWS_QUEUE_MISSING' };
    expect(await metrics.read('spindrift_interruption_queue_failures_total', failures)).toBeGreaterThan(10);
    queue.failure = undefined;
    queue.send(spotWarning(id(1)));
    await clock.advance(61_000);
    expect(heard).toHaveLength(1);
    expect(logger.info).toHaveBeenCalledTimes(1);
    await end();
  });

  it('show how old the oldest is that is not dealt with', async () => {
    const { clock, queue, metrics, end, acknowledge } = world();
    queue.send(spotWarning(id(1)));
    await clock.advance(42_000);
    expect(await metrics.read('spindrift_interruption_oldest_message_age_seconds')).toBe(42);
    await clock.run(acknowledge());
    expect(await metrics.read('spindrift_interruption_oldest_message_age_seconds')).toBe(0);
    await end();
  });

  it('leave no timer behind when they end', async () => {
    const { clock, queue, end } = world({ isKnown: () => false });
    queue.send(spotWarning(id(1)));
    await clock.advance(120);
    await end();
    expect(clock.pending).toBe(0);
  });
});
