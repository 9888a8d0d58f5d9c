import { describe, expect, it } from 'vitest';
import { VpcClient } from '../../src/cloud/ibm/api/vpc-client.ts';
import { SpindriftError } from '../../src/platform/errors.ts';
import { seededRandom } from '../../src/platform/random.ts';
import { VirtualClock } from '../../src/platform/virtual-clock.ts';
import { IbmServer } from './server/ibm-server.ts';
import { aPrototype } from './testkit/a-prototype.ts';
import { type WirelessOptions, wireless } from './testkit/wireless.ts';

function world(options: WirelessOptions = {}) {
  const clock = new VirtualClock();
  const server = new IbmServer({ clock, random: seededRandom('client') });
  const client = new VpcClient({ service: wireless(server, options)('http://ibm.test/v1'), clock, region: 'us-south' });
  return { clock, server, client, signal: new AbortController().signal };
}

const refused = async (call: Promise<unknown>): Promise<SpindriftError> => {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(SpindriftError);
  return error as SpindriftError;
};

describe('VpcClient', () => {
  it('reads every page of a list: upstream read the first one only', async () => {
    const { server, client, signal } = world();
    for (let number = 0; number < 230; number++)
      await client.createInstance(aPrototype(server.world, `many-${number}`), signal);
    server.world.requests.length = 0;
    const all = await client.listInstances({ availabilityClass: 'spot' }, signal);
    expect(new Set(all.map(({ id }) => id)).size).toBe(230);
    expect(server.world.requests).toHaveLength(3);
    expect(await client.listInstances({ availabilityClass: 'standard' }, signal)).toEqual([]);
    expect(await client.listInstances({ vpcId: 'r006-other' }, signal)).toEqual([]);
  });

  it('finds an instance by its name', async () => {
    const { server, client, signal } = world();
    const made = await client.createInstance(aPrototype(server.world, 'one'), signal);
    expect((await client.instanceNamed('one', signal))?.id).toBe(made.id);
    expect(await client.instanceNamed('other', signal)).toBeUndefined();
  });

  it('says what IBM said, with its code, the field and the trace', async () => {
    const { server, client, signal } = world();
    const error = await refused(
      client.createInstance({ ...aPrototype(server.world, 'x'), profile: { name: 'none-1x1' } }, signal),
    );
    expect(error.code).toBe('CLOUD_REFUSED');
    expect(error.message).toContain(
      'The profile none-1x1 does not exist (invalid_profile_error at profile.name), trace trace-400',
    );
  });

  it('waits as long as a 429 asks for, and then makes the same call again', async () => {
    const { clock, server, client, signal } = world();
    server.world.faults.requestsPerSecond = 2;
    const calls = Promise.all(
      Array.from({ length: 6 }, (_, number) => client.createInstance(aPrototype(server.world, `n-${number}`), signal)),
    );
    const made = await clock.run(calls);
    expect(new Set(made.map(({ name }) => name)).size).toBe(6);
    expect([...server.world.made.values()]).toEqual([1, 1, 1, 1, 1, 1]);
    expect(clock.elapsed()).toBeGreaterThanOrEqual(2000);
  });

  it('asks again for what it only reads when the cloud has trouble, and never for what it changes', async () => {
    const { clock, server, client, signal } = world();
    let failures = 2;
    server.world.faults.before = ({ method }) =>
      method === 'GET' && failures-- > 0 ? { status: 503, code: 'service_error' } : undefined;
    expect(await clock.run(client.getVpc(server.world.network.vpc.id, signal))).toBeDefined();
    server.world.faults.before = ({ method }) =>
      method === 'POST' ? { status: 500, code: 'internal_error' } : undefined;
    server.world.requests.length = 0;
    expect((await refused(client.createInstance(aPrototype(server.world, 'x'), signal))).code).toBe(
      'CLOUD_UNAVAILABLE',
    );
    expect(server.world.requests).toEqual(['POST /v1/instances']);
  });

  it('takes a deletion that is under way, and one of what is gone, for done', async () => {
    const { clock, server, client, signal } = world();
    const { id } = await client.createInstance(aPrototype(server.world, 'x'), signal);
    await client.deleteInstance(id, signal);
    await client.deleteInstance(id, signal);
    await clock.advance(server.world.deleteMs);
    await client.deleteInstance(id, signal);
    expect(await client.getInstance(id, signal)).toBeUndefined();
  });

  it('ends a call that nobody answers in time', async () => {
    const { clock, client, signal } = world({ before: () => new Promise(() => {}) });
    expect((await clock.run(refused(client.getVpc('r006-x', signal)))).code).toBe('DEADLINE_EXCEEDED');
    expect(clock.elapsed()).toBe(60_000);
  });
});
