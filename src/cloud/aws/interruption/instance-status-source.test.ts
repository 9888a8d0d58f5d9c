import { describe, expect, it, vi } from 'vitest';
import type { EpochMs } from '../../../platform/clock.ts';
import { SpindriftError } from '../../../platform/errors.ts';
import { SILENT_LOGGER } from '../../../platform/logger.ts';
import { Metrics } from '../../../platform/metrics.ts';
import { VirtualClock } from '../../../platform/virtual-clock.ts';
import type { ReceivedNotice } from '../../notice.ts';
import type { InstanceStatus } from './instance-status.ts';
import { InstanceStatusSource } from './instance-status-source.ts';

const WELL = { instanceImpaired: false, systemImpaired: false, events: [] };

async function world(unwell: () => Promise<readonly InstanceStatus[]>) {
  const clock = new VirtualClock();
  const warn = vi.fn();
  const metrics = new Metrics();
  const isKnown = (machine: string): boolean => machine.startsWith('i-0');
  const source = new InstanceStatusSource({ clock, logger: { ...SILENT_LOGGER, warn }, metrics, unwell, isKnown });
  const heard: ReceivedNotice[] = [];
  const stop = new AbortController();
  const run = (async () => {
    for await (const notice of source.receive(stop.signal)) heard.push(notice);
  })();
  const end = async () => {
    stop.abort();
    await run;
  };
  return { clock, heard, warn, metrics, end };
}

describe('status checks of EC2', () => {
  it('tell of an instance that is impaired for two minutes, once, and only of ours', async () => {
    const start = new VirtualClock().now();
    const sick = { ...WELL, systemImpaired: true, impairedSince: start as EpochMs };
    const { clock, heard, metrics, end } = await world(async () => [
      { ...sick, machine: 'i-01' },
      { ...sick, machine: 'i-ff' },
    ]);
    await clock.advance(61_000);
    expect(heard).toEqual([]);
    await clock.advance(300_000);
    expect(heard).toMatchObject([{ kind: 'stopping', machine: 'i-01', source: 'instance-status' }]);
    const labels = { category: 'system_status' };
    expect(await metrics.read('karpenter_interruption_instance_status_unhealthy_total', labels)).toBe(1);
    await end();
  });

  it('tell of scheduled events, not of those that are over', async () => {
    const event = { code: 'instance-retirement', description: 'x', notBefore: 1_893_556_000_000 as EpochMs };
    const over = { ...event, code: 'instance-reboot', description: '[Completed] reboot' };
    const { clock, heard, end } = await world(async () => [{ ...WELL, machine: 'i-01', events: [event, over] }]);
    await clock.advance(200_000);
    expect(heard).toMatchObject([{ kind: 'scheduled-maintenance', deadline: event.notBefore }]);
    await end();
  });

  it('say once that the permission is missing, and ask seldom then', async () => {
    const unwell = vi.fn(async () => {
      throw new SpindriftError('CLOUD_DENIED', { operation: 'ec2:DescribeInstanceStatus', problem: 'no' });
    });
    const { clock, warn, end } = await world(unwell);
    await clock.advance(3 * 3_600_000);
    expect(warn).toHaveBeenCalledTimes(1);
    expect(unwell.mock.calls.length).toBeLessThanOrEqual(4);
    await end();
  });
});
