import { describe, expect, it } from 'vitest';
import { parseTimestamp } from '../../platform/clock.ts';
import { SILENT_LOGGER } from '../../platform/logger.ts';
import { VirtualClock } from '../../platform/virtual-clock.ts';
import { type AzureEvent, AzureMetadata } from '../testkit/azure-metadata.ts';
import { listenTo } from '../testkit/listen-to.ts';
import { ScheduledEventsSource, vmNameOf } from './scheduled-events-source.ts';

function world() {
  const clock = new VirtualClock();
  const metadata = new AzureMetadata('pool_7');
  const heard = listenTo(new ScheduledEventsSource({ clock, logger: SILENT_LOGGER, ask: metadata.ask }));
  return { clock, metadata, ...heard };
}

const event = (parts: Partial<AzureEvent> = {}): AzureEvent => ({
  ...{ EventId: 'e', EventType: 'Preempt', Resources: ['POOL_7'], NotBefore: 'Tue, 01 Jan 2030 00:01:30 GMT' },
  ...parts,
});

describe('what an Azure VM hears of itself', () => {
  it('is its own preemption within a second, with its time, once', async () => {
    const { clock, metadata, reports, end } = world();
    await clock.advance(10_500);
    metadata.set([event({ Resources: ['pool_8'] }), event()]);
    await clock.advance(1000);
    expect(reports).toMatchObject([[{ kind: 'spot-interruption', deadline: parseTimestamp('2030-01-01T00:01:30Z') }]]);
    await clock.advance(10_000);
    expect(reports).toHaveLength(1);
    await end();
  });

  it.each([
    ['Terminate', 'stopping'],
    ['Reboot', 'scheduled-maintenance'],
    ['Redeploy', 'scheduled-maintenance'],
  ] as const)('is %s as %s, and no longer when it has vanished', async (type, kind) => {
    const { clock, metadata, reports, end } = world();
    metadata.set([event({ EventType: type })]);
    await clock.advance(2000);
    metadata.set([]);
    await clock.advance(2000);
    expect(reports.map((each) => each.map((warning) => warning.kind))).toEqual([[kind], []]);
    await end();
  });

  it('is not a pause of seconds, nor what others hear of themselves', async () => {
    const { clock, metadata, reports, end } = world();
    metadata.set([event({ EventType: 'Freeze' }), event({ Resources: ['pool_8'] })]);
    await clock.advance(60_000);
    expect(reports).toEqual([]);
    await end();
  });

  it('is told again when what was scheduled has started', async () => {
    const { clock, metadata, last, end } = world();
    metadata.set([event()]);
    await clock.advance(2000);
    metadata.set([event({ EventStatus: 'Started', NotBefore: '' })]);
    await clock.advance(1000);
    expect(last()).toMatchObject([{ deadline: clock.now() }]);
    await end();
  });

  it('never approves anything, and asks once a second', async () => {
    const { clock, metadata, end } = world();
    metadata.set([event(), event({ EventType: 'Reboot', EventId: 'r' })]);
    await clock.advance(60_000);
    expect(metadata.approvals).toBe(0);
    expect(metadata.requests).toBeLessThanOrEqual(62);
    await end();
  });

  it('knows what scale sets call their machines', () => {
    const base = 'azure:///subscriptions/s/resourceGroups/g/providers/Microsoft.Compute';
    expect(vmNameOf(`${base}/virtualMachineScaleSets/pool/virtualMachines/7`)).toBe('pool_7');
    expect(vmNameOf(`${base}/virtualMachines/aks-pool-1`)).toBe('aks-pool-1');
    expect(vmNameOf('aws:///us-east-1a/i-1')).toBeUndefined();
  });
});
