/** An hour of metadata services that err at random: no crash, no false warning, and no true one missed. */
import { describe, expect, it } from 'vitest';
import { SILENT_LOGGER } from '../platform/logger.ts';
import { seededRandom } from '../platform/random.ts';
import { VirtualClock } from '../platform/virtual-clock.ts';
import { ImdsSource } from './aws/imds-source.ts';
import { ScheduledEventsSource } from './azure/scheduled-events-source.ts';
import { GcpSource } from './gcp/gcp-source.ts';
import type { AskMetadata } from './metadata/ask-metadata.ts';
import type { WarningSource } from './node-warning.ts';
import { AzureMetadata } from './testkit/azure-metadata.ts';
import { Ec2Metadata } from './testkit/ec2-metadata.ts';
import { erringMetadata } from './testkit/erring-metadata.ts';
import { GcpMetadata } from './testkit/gcp-metadata.ts';
import { listenTo } from './testkit/listen-to.ts';

interface Cloud {
  ask: AskMetadata;
  interrupt(): void;
  source(ask: AskMetadata): WarningSource;
}

const CLOUDS: Readonly<Record<string, (clock: VirtualClock) => Cloud>> = {
  EC2: (clock) => {
    const metadata = new Ec2Metadata(clock);
    const action = JSON.stringify({ action: 'terminate', time: '2030-01-01T00:39:00Z' });
    return {
      ask: metadata.ask,
      interrupt: () => void metadata.values.set('spot/instance-action', action),
      source: (ask) => new ImdsSource({ clock, logger: SILENT_LOGGER, ask }),
    };
  },
  GCP: (clock) => {
    const metadata = new GcpMetadata(clock);
    return {
      ask: metadata.ask,
      interrupt: () => metadata.set('preempted', 'TRUE'),
      source: (ask) => new GcpSource({ clock, logger: SILENT_LOGGER, ask, noticeMs: 30_000 }),
    };
  },
  Azure: (clock) => {
    const metadata = new AzureMetadata('vm');
    const NotBefore = 'Tue, 01 Jan 2030 00:37:30 GMT';
    return {
      ask: metadata.ask,
      interrupt: () => metadata.set([{ EventId: 'e', EventType: 'Preempt', Resources: ['vm'], NotBefore }]),
      source: (ask) => new ScheduledEventsSource({ clock, logger: SILENT_LOGGER, ask }),
    };
  },
};

const cases = Object.keys(CLOUDS).flatMap((name) => ['a', 'b', 'c', 'd'].map((seed) => [name, seed] as const));

describe('an hour of a metadata service that errs', () => {
  it.each(cases)('on %s (seed %s) hides nothing and invents nothing', async (name, seed) => {
    const clock = new VirtualClock();
    const cloud = (CLOUDS[name] as (clock: VirtualClock) => Cloud)(clock);
    const ask = erringMetadata(cloud.ask, clock, seededRandom(seed), 0.4);
    const { reports, end } = listenTo(cloud.source(ask));
    await clock.advance(37 * 60_000);
    expect(reports).toEqual([]);
    cloud.interrupt();
    await clock.advance(60_000);
    expect(reports.length).toBeGreaterThan(0);
    await clock.advance(22 * 60_000);
    for (const report of reports) expect(report.map(({ kind }) => kind)).toEqual(['spot-interruption']);
    await end();
    expect(clock.pending).toBe(0);
  });
});
