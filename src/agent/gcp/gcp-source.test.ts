import { describe, expect, it } from 'vitest';
import { SILENT_LOGGER } from '../../platform/logger.ts';
import { VirtualClock } from '../../platform/virtual-clock.ts';
import { GcpMetadata } from '../testkit/gcp-metadata.ts';
import { listenTo } from '../testkit/listen-to.ts';
import { GcpSource } from './gcp-source.ts';

function world(preempted = 'FALSE') {
  const clock = new VirtualClock();
  const metadata = new GcpMetadata(clock);
  metadata.set('preempted', preempted);
  const heard = listenTo(new GcpSource({ clock, logger: SILENT_LOGGER, ask: metadata.ask, noticeMs: 30_000 }));
  return { clock, metadata, ...heard };
}

describe('what a Compute Engine VM hears of itself', () => {
  it('is a preemption in the moment it is said, without polling', async () => {
    const { clock, metadata, reports, end } = world();
    await clock.advance(3_600_000);
    expect(metadata.requests).toBeLessThanOrEqual(2 * 32);
    metadata.set('preempted', 'TRUE');
    await clock.advance(0);
    expect(reports).toMatchObject([[{ kind: 'spot-interruption', deadline: clock.now() + 30_000 }]]);
    await end();
  });

  it('is a preemption that was said before it listened', async () => {
    const { clock, reports, end } = world('TRUE');
    await clock.advance(0);
    expect(reports).toHaveLength(1);
    await clock.advance(600_000);
    expect(reports).toHaveLength(1);
    await end();
  });

  it('is maintenance that terminates it, not one that moves it, and no longer when that is over', async () => {
    const { clock, metadata, reports, end } = world();
    for (const event of ['MIGRATE_ON_HOST_MAINTENANCE', 'TERMINATE_ON_HOST_MAINTENANCE', 'NONE']) {
      metadata.set('maintenance-event', event);
      await clock.advance(1000);
    }
    expect(reports.map((each) => each.map(({ kind }) => kind))).toEqual([['scheduled-maintenance'], []]);
    await end();
  });

  it('is nothing where another server answers in its place', async () => {
    const clock = new VirtualClock();
    let asked = 0;
    const ask = async () => {
      asked++;
      return { status: 200, headers: {}, body: 'TRUE' };
    };
    const { reports, end } = listenTo(new GcpSource({ clock, logger: SILENT_LOGGER, ask, noticeMs: 1 }));
    await clock.advance(10_000);
    expect(reports).toEqual([]);
    expect(asked).toBeLessThanOrEqual(24);
    await end();
  });
});
