import { describe, expect, it } from 'vitest';
import { CONFIG_MAPS, type ConfigMap } from '../../../src/apis/kubernetes/core.ts';
import { EVENTS, type Event } from '../../../src/apis/kubernetes/event.ts';
import { NODES } from '../../../src/apis/kubernetes/node.ts';
import { ApiServer } from '../../../src/embedded/apiserver/api-server.ts';
import { InMemoryClient } from '../../../src/embedded/in-memory-client.ts';
import { EventRecorder } from '../../../src/kube/event-recorder.ts';
import { type Fault, FaultyClient } from '../../../src/kube/testkit/faulty-client.ts';
import { seededRandom } from '../../../src/platform/random.ts';
import { VirtualClock } from '../../../src/platform/virtual-clock.ts';

async function setUp() {
  const clock = new VirtualClock();
  const server = new InMemoryClient(new ApiServer({ clock, random: seededRandom('server') }));
  const trouble: { fault?: Fault } = {};
  const client = new FaultyClient({ client: server, clock, fault: () => trouble.fault });
  const recorder = new EventRecorder({ client, clock, random: seededRandom('recorder'), component: 'spindrift' });
  const about = async (name: string): Promise<ConfigMap> =>
    server.create(CONFIG_MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } });
  const events = async (): Promise<readonly Event[]> => {
    await clock.run(recorder.flush());
    return (await server.list(EVENTS)).items;
  };
  return { clock, server, recorder, trouble, about, events, object: await about('thing') };
}

describe('EventRecorder', () => {
  it('writes an event that kubectl describe will find', async () => {
    const { recorder, object, events } = await setUp();
    recorder.record({ object, type: 'Warning', reason: 'FailedScheduling', message: 'no room' });
    const [event] = await events();
    expect(event).toMatchObject({
      type: 'Warning',
      reason: 'FailedScheduling',
      message: 'no room',
      count: 1,
      source: { component: 'spindrift' },
      firstTimestamp: '2030-01-01T00:00:00Z',
      involvedObject: { kind: 'ConfigMap', name: 'thing', namespace: 'default', uid: object.metadata.uid },
    });
  });

  it('does not say the same again within the quiet time, and counts it up afterwards', async () => {
    const { clock, recorder, object, events } = await setUp();
    const event = { object, type: 'Normal', reason: 'Nominated', message: 'x', quietMs: 60_000 } as const;
    recorder.record(event);
    await clock.advance(59_999);
    recorder.record(event);
    expect(await events()).toMatchObject([{ count: 1 }]);
    await clock.advance(1);
    recorder.record(event);
    expect(await events()).toMatchObject([{ count: 2, lastTimestamp: '2030-01-01T00:01:00Z' }]);
  });

  it('takes events for the same by the values it is told to', async () => {
    const { recorder, object, events } = await setUp();
    const base = { object, type: 'Normal', reason: 'Unconsolidatable', dedupe: ['node-1'] } as const;
    recorder.record({ ...base, message: 'saves $1.00' });
    recorder.record({ ...base, message: 'saves $1.01' });
    recorder.record({ ...base, message: 'saves $1.00', dedupe: ['node-2'] });
    expect(await events()).toHaveLength(2);
  });

  it('writes a new event when the one to be counted up is gone', async () => {
    const { clock, server, recorder, object, events } = await setUp();
    const event = { object, type: 'Normal', reason: 'Nominated', message: 'x', quietMs: 0 } as const;
    recorder.record(event);
    const [first] = await events();
    await server.delete(EVENTS, { name: first!.metadata.name!, namespace: 'default' });
    await clock.advance(1);
    recorder.record(event);
    expect(await events()).toMatchObject([{ count: 2 }]);
  });

  it('falls silent about an object of which too much is said, and not about others', async () => {
    const { clock, recorder, object, about, events } = await setUp();
    const other = await about('other');
    for (let index = 0; index < 100; index++) {
      recorder.record({ object, type: 'Normal', reason: 'Chatter', message: `line ${index}` });
    }
    recorder.record({ object: other, type: 'Normal', reason: 'Chatter', message: 'one' });
    expect(await events()).toHaveLength(26);
    await clock.advance(300_000);
    recorder.record({ object, type: 'Normal', reason: 'Chatter', message: 'later' });
    expect(await events()).toHaveLength(27);
  });

  it('puts events about objects without a namespace into default', async () => {
    const { server, recorder, events } = await setUp();
    const node = await server.create(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } });
    recorder.record({ object: node, type: 'Normal', reason: 'Ready', message: 'up' });
    expect(await events()).toMatchObject([{ metadata: { namespace: 'default' }, involvedObject: { name: 'n' } }]);
  });

  it('never fails and never blocks: what cannot be written is dropped', async () => {
    const { recorder, object, trouble, events } = await setUp();
    trouble.fault = { kind: 'hangs' };
    recorder.record({ object, type: 'Normal', reason: 'Lost', message: 'x' });
    expect(await events()).toEqual([]);
    delete trouble.fault;
    recorder.record({ object, type: 'Normal', reason: 'Found', message: 'x' });
    expect(await events()).toMatchObject([{ reason: 'Found' }]);
  });
});
