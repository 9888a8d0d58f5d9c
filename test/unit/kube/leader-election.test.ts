import { describe, expect, it } from 'vitest';
import { LEASES } from '../../../src/apis/kubernetes/lease.ts';
import { ApiServer } from '../../../src/embedded/apiserver/api-server.ts';
import { InMemoryClient } from '../../../src/embedded/in-memory-client.ts';
import { LeaderElection, type LeaderElectionOptions } from '../../../src/kube/leader-election.ts';
import { type Fault, FaultyClient } from '../../../src/kube/testkit/faulty-client.ts';
import { Metrics } from '../../../src/platform/metrics.ts';
import { seededRandom } from '../../../src/platform/random.ts';
import { keptLines } from '../../../src/platform/testkit/kept-lines.ts';
import { VirtualClock } from '../../../src/platform/virtual-clock.ts';

const LEASE = { namespace: 'kube-system', name: 'spindrift' };

function setUp() {
  const clock = new VirtualClock();
  const server = new InMemoryClient(new ApiServer({ clock, random: seededRandom('server') }));
  const log: string[] = [];
  const candidate = (identity: string, options: Partial<LeaderElectionOptions> = {}) => {
    const trouble: { fault?: Fault } = {};
    const client = new FaultyClient({ client: server, clock, fault: () => trouble.fault });
    const random = seededRandom(identity);
    const election = new LeaderElection({ client, clock, random, lease: LEASE, identity, ...options });
    const stop = new AbortController();
    const running = election.run(stop.signal, async (signal) => {
      log.push(`${clock.elapsed()} ${identity} leads`);
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      log.push(`${clock.elapsed()} ${identity} stops`);
    });
    return { election, stop, running, trouble };
  };
  const lease = () => server.get(LEASES, LEASE);
  return { clock, server, log, candidate, lease };
}

describe('LeaderElection', () => {
  it('leads at once when nobody does, and writes who, since when and for how long', async () => {
    const { clock, log, candidate, lease } = setUp();
    const metrics = new Metrics();
    const { election } = candidate('a', { metrics });
    await clock.advance(0);
    expect(log).toEqual(['0 a leads']);
    expect(election).toMatchObject({ leading: true, holder: 'a' });
    expect((await lease()).spec).toEqual({
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      acquireTime: '2030-01-01T00:00:00.000000Z',
      renewTime: '2030-01-01T00:00:00.000000Z',
      leaseTransitions: 0,
    });
    await clock.advance(4000);
    expect((await lease()).spec?.renewTime).toBe('2030-01-01T00:00:04.000000Z');
    expect((await lease()).spec?.acquireTime).toBe('2030-01-01T00:00:00.000000Z');
    expect(await metrics.read('leader_election_master_status', { name: 'spindrift' })).toBe(1);
  });

  it('says that it stands by, once for each replica that leads instead', async () => {
    const { clock, candidate } = setUp();
    const a = candidate('a');
    await clock.advance(100);
    const { logger, lines } = keptLines();
    candidate('b', { logger });
    await clock.advance(60_000);
    const waits = (): unknown[] =>
      lines.filter(({ message }) => message.startsWith('standing by')).map(({ fields }) => fields.holder);
    expect(waits()).toEqual(['a']);
    a.stop.abort();
    await clock.advance(10_000);
    expect(lines.map(({ message }) => message)).toEqual(['standing by: another replica leads', 'leading']);
  });

  it('gives the lease back when it is told to stop, so that another leads within a retry', async () => {
    const { clock, log, candidate, lease } = setUp();
    const a = candidate('a');
    await clock.advance(100);
    candidate('b');
    await clock.advance(10_000);
    a.stop.abort(new Error('stop'));
    await clock.advance(0);
    expect((await lease()).spec?.holderIdentity).toBe('');
    await clock.advance(2400);
    expect(log.map((line) => line.slice(line.indexOf(' ') + 1))).toEqual(['a leads', 'a stops', 'b leads']);
    expect((await lease()).spec).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
  });

  it('gives the lease back only when its work has ended', async () => {
    const { clock, server, lease } = setUp();
    const election = new LeaderElection({
      client: server,
      clock,
      random: seededRandom(1),
      lease: LEASE,
      identity: 'slow',
    });
    const stop = new AbortController();
    const running = election.run(stop.signal, async (signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      await clock.sleep(3000);
    });
    await clock.advance(1000);
    stop.abort(new Error('stop'));
    await clock.advance(2900);
    expect((await lease()).spec?.holderIdentity).toBe('slow');
    await clock.run(running);
    expect((await lease()).spec?.holderIdentity).toBe('');
  });

  it('stops acting 10 s after the last renewal it sent, and another takes over after 15 s', async () => {
    const { clock, log, candidate } = setUp();
    const a = candidate('a');
    await clock.advance(100);
    candidate('b');
    await clock.advance(899);
    a.trouble.fault = { kind: 'hangs' };
    await clock.advance(30_000);
    expect(log[1]).toBe('10000 a stops');
    const taken = Number.parseInt(log[2]!, 10);
    expect(log[2]).toMatch(/ b leads$/);
    expect(taken).toBeGreaterThanOrEqual(15_000);
    expect(taken).toBeLessThan(15_000 + 2 * 2400);
  });

  it('leads again when it can, after it was cut off', async () => {
    const { clock, log, candidate } = setUp();
    const a = candidate('a');
    await clock.advance(999);
    a.trouble.fault = { kind: 'lost' };
    await clock.advance(20_000);
    delete a.trouble.fault;
    await clock.advance(20_000);
    expect(log.map((line) => line.slice(line.indexOf(' ') + 1))).toEqual(['a leads', 'a stops', 'a leads']);
  });

  it('ends, with the lease given back, when its work ends by itself or fails', async () => {
    const { clock, server, lease } = setUp();
    const election = (identity: string) =>
      new LeaderElection({ client: server, clock, random: seededRandom(1), lease: LEASE, identity });
    await clock.run(election('done').run(new AbortController().signal, () => clock.sleep(5000)));
    expect((await lease()).spec?.holderIdentity).toBe('');
    const failing = election('failing').run(new AbortController().signal, async () => {
      await clock.sleep(1000);
      throw new Error('a bug');
    });
    await expect(clock.run(failing)).rejects.toThrow('a bug');
    expect((await lease()).spec?.holderIdentity).toBe('');
  });

  it('respects a holder that asked for a longer lease than its own', async () => {
    const { clock, server, log, candidate } = setUp();
    await server.create(LEASES, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: LEASE,
      spec: { holderIdentity: 'other', leaseDurationSeconds: 60 },
    });
    candidate('a');
    await clock.advance(59_000);
    expect(log).toEqual([]);
    await clock.advance(5000);
    expect(log[0]).toMatch(/ a leads$/);
  });

  it('refuses times that cannot keep two leaders apart', () => {
    const { candidate } = setUp();
    expect(() => candidate('a', { renewDeadlineMs: 15_000 })).toThrow(
      'leader election timing is 2000/15000/15000 ms, but it must be retry period < renew deadline < lease duration',
    );
  });
});
