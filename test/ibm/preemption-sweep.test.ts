import { describe, expect, it } from 'vitest';
import { VpcClient } from '../../src/cloud/ibm/api/vpc-client.ts';
import { PreemptionSweep } from '../../src/cloud/ibm/preemption/preemption-sweep.ts';
import type { ReceivedNotice } from '../../src/cloud/notice.ts';
import { SILENT_LOGGER } from '../../src/platform/logger.ts';
import { seededRandom } from '../../src/platform/random.ts';
import { VirtualClock } from '../../src/platform/virtual-clock.ts';
import { createInstance } from './server/create-instance.ts';
import { IbmServer } from './server/ibm-server.ts';
import { aPrototype } from './testkit/a-prototype.ts';
import { wireless } from './testkit/wireless.ts';

const MINUTE_MS = 60_000;

/** A region with so many spot machines, all running, and a sweep that writes down what it finds. */
async function world(machines: number, pageSize = 50) {
  const clock = new VirtualClock();
  const server = new IbmServer({ clock, random: seededRandom('sweep') });
  for (const subnet of server.world.network.subnets) subnet.total = 10_000;
  const ids = Array.from(
    { length: machines },
    (_, number) => createInstance(server.world, aPrototype(server.world, `karp-${number}`, number % 3)).id,
  );
  await clock.advance(server.world.startMs);
  const vpc = new VpcClient({ service: wireless(server)('http://ibm.test/v1'), clock, region: 'us-south' });
  const sweep = new PreemptionSweep({
    clock,
    logger: SILENT_LOGGER,
    regions: () => [vpc],
    isOurs: ({ name }) => name.startsWith('karp-'),
    dealtWith: async ({ id }, _, signal) => vpc.deleteInstance(id, signal),
    everyMs: MINUTE_MS,
    pageSize,
  });
  const found: ReceivedNotice[] = [];
  const end = new AbortController();
  const run = (async () => {
    for await (const notice of sweep.receive(end.signal)) found.push(notice);
  })();
  return { clock, server, ids, found, end, run };
}

describe('the sweep for preempted machines', () => {
  it('finds those on page 17 of 50 within one interval, though a page fails twice: 52 calls', async () => {
    const { clock, server, ids, found, end, run } = await world(2500);
    await clock.advance(0);
    expect(found).toEqual([]);
    server.world.requests.length = 0;
    const gone = [ids[16 * 50 + 3], ids[16 * 50 + 40]] as string[];
    for (const id of gone) server.world.preempt(id);
    let failures = 2;
    let pages = 0;
    server.world.faults.before = ({ query }) => {
      if (query.get('availability.class') === 'spot' && ++pages > 30 && failures-- > 0)
        return { status: 500, code: 'internal_error' };
      return undefined;
    };
    const before = clock.elapsed();
    await clock.runUntil(() => server.world.requests.length >= 52, 2 * MINUTE_MS);
    await clock.advance(1000);
    expect(found.map(({ machine, kind }) => [machine, kind])).toEqual(gone.map((id) => [id, 'preempted']));
    expect(clock.elapsed() - before).toBeLessThanOrEqual(MINUTE_MS + 5000);
    expect(server.world.requests).toHaveLength(52);
    end.abort();
    await run;
  });

  it('loses none of the pages that were read when one fails for good, and begins anew in the next interval', async () => {
    const { clock, server, ids, found, end, run } = await world(200);
    await clock.advance(0);
    server.world.preempt(ids[10] as string);
    server.world.preempt(ids[190] as string);
    let down = true;
    server.world.faults.before = ({ query }) =>
      down && query.get('start') === ids[100] ? { status: 503, code: 'service_error' } : undefined;
    await clock.advance(MINUTE_MS + 1000);
    expect(found.map(({ machine }) => machine)).toEqual([ids[10]]);
    down = false;
    await clock.advance(2 * MINUTE_MS);
    expect(new Set(found.map(({ machine }) => machine))).toEqual(new Set([ids[10], ids[190]]));
    end.abort();
    await run;
  });

  it('makes one list each interval, whatever the number of nodes, and asks about no machine by itself', async () => {
    const { clock, server, end, run } = await world(90, 100);
    server.world.requests.length = 0;
    await clock.advance(10 * MINUTE_MS);
    expect(server.world.requests.filter((request) => request !== 'GET /v1/instances')).toEqual([]);
    expect(server.world.requests.length).toBeLessThanOrEqual(11);
    end.abort();
    await run;
  });

  it('tells only of what IBM took back: not of machines that were stopped by hand, of others, or on demand', async () => {
    const { clock, server, ids, found, end, run } = await world(3);
    const foreign = createInstance(server.world, aPrototype(server.world, 'somebody-else'));
    const { availability: _, availability_policy: __, ...onDemand } = aPrototype(server.world, 'karp-on-demand');
    const standard = createInstance(server.world, onDemand);
    server.world.stop(ids[0] as string);
    server.world.stop(standard.id);
    server.world.preempt(foreign.id);
    await clock.advance(2 * MINUTE_MS);
    expect(found).toEqual([]);
    server.world.preempt(ids[1] as string);
    await clock.advance(MINUTE_MS);
    expect(found.map(({ machine }) => machine)).toEqual([ids[1]]);
    end.abort();
    await run;
  });

  it('tells of a machine again until it has been dealt with, and not after that', async () => {
    const { clock, server, ids, found, end, run } = await world(2);
    server.world.preempt(ids[0] as string);
    await clock.advance(2 * MINUTE_MS + 1000);
    expect(found.length).toBeGreaterThanOrEqual(2);
    await found[0]?.acknowledge(new AbortController().signal);
    const told = found.length;
    await clock.advance(3 * MINUTE_MS);
    expect(found).toHaveLength(told);
    expect(server.world.instances.has(ids[0] as string)).toBe(false);
    end.abort();
    await run;
  });
});
