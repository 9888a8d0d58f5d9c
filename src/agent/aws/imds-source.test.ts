import { describe, expect, it } from 'vitest';
import { parseTimestamp } from '../../platform/clock.ts';
import { SILENT_LOGGER } from '../../platform/logger.ts';
import { VirtualClock } from '../../platform/virtual-clock.ts';
import { Ec2Metadata } from '../testkit/ec2-metadata.ts';
import { listenTo } from '../testkit/listen-to.ts';
import { ImdsSource } from './imds-source.ts';

function world() {
  const clock = new VirtualClock();
  const metadata = new Ec2Metadata(clock);
  const heard = listenTo(new ImdsSource({ clock, logger: SILENT_LOGGER, ask: metadata.ask }));
  return { clock, metadata, ...heard };
}

const ACTION = JSON.stringify({ action: 'terminate', time: '2030-01-01T00:10:00Z' });

describe('what an EC2 instance hears of itself', () => {
  it('is a spot interruption within five seconds, told once', async () => {
    const { clock, metadata, reports, end } = world();
    await clock.advance(61_000);
    expect(reports).toEqual([]);
    metadata.values.set('spot/instance-action', ACTION);
    await clock.advance(5000);
    expect(reports).toMatchObject([[{ kind: 'spot-interruption', deadline: parseTimestamp('2030-01-01T00:10:00Z') }]]);
    await clock.advance(60_000);
    expect(reports).toHaveLength(1);
    await end();
  });

  it('is asked for no more often than documented, with one token for hours', async () => {
    const { clock, metadata, end } = world();
    await clock.advance(3_600_000);
    const asked = (path: string) => metadata.requests.filter((request) => request.path === path);
    expect(asked('/latest/meta-data/spot/instance-action')).toHaveLength(721);
    expect(asked('/latest/api/token')).toHaveLength(1);
    await clock.advance(8 * 3_600_000);
    expect(asked('/latest/api/token').length).toBeLessThanOrEqual(3);
    await end();
  });

  it('survives that its token is not valid any more', async () => {
    const { clock, metadata, reports, end } = world();
    await clock.advance(10_000);
    metadata.forgetTokens();
    metadata.values.set('spot/instance-action', ACTION);
    await clock.advance(5000);
    expect(reports).toHaveLength(1);
    await end();
  });

  it('is a rebalance recommendation, and the interruption that follows', async () => {
    const { clock, metadata, last, end } = world();
    metadata.values.set('events/recommendations/rebalance', '{"noticeTime":"2030-01-01T00:00:03Z"}');
    await clock.advance(5000);
    metadata.values.set('spot/instance-action', ACTION);
    await clock.advance(5000);
    expect(last().map(({ kind }) => kind)).toEqual(['rebalance', 'spot-interruption']);
    await end();
  });

  it('is scheduled maintenance within a minute, until that is cancelled', async () => {
    const { clock, metadata, last, end } = world();
    const event = { Code: 'instance-reboot', State: 'active', NotBefore: '2 Jan 2030 03:04:05 GMT', EventId: 'e' };
    metadata.values.set('events/maintenance/scheduled', JSON.stringify([event]));
    await clock.advance(61_000);
    expect(last()).toMatchObject([{ kind: 'scheduled-maintenance', deadline: parseTimestamp('2030-01-02T03:04:05Z') }]);
    const cancelled = { ...event, State: 'canceled', Description: '[Canceled] reboot' };
    metadata.values.set('events/maintenance/scheduled', JSON.stringify([cancelled]));
    await clock.advance(61_000);
    expect(last()).toEqual([]);
    await end();
  });

  it('is that its Auto Scaling group terminates it, and no other target state', async () => {
    const { clock, metadata, reports, end } = world();
    metadata.values.set('autoscaling/target-lifecycle-state', 'Warmed:Terminated');
    await clock.advance(10_000);
    expect(reports).toEqual([]);
    metadata.values.set('autoscaling/target-lifecycle-state', 'Terminated\n');
    await clock.advance(10_000);
    expect(reports).toMatchObject([[{ kind: 'stopping' }]]);
    await end();
  });
});
