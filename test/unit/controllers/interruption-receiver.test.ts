/** Notices from a cloud that is in trouble itself. */
import { describe, expect, it } from 'vitest';
import { DEFINITIONS } from '../../../src/apis/custom-resource-definitions.ts';
import { NODE_CLAIMS } from '../../../src/apis/karpenter/node-claim.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../../src/apis/schema/custom-resource-definition.ts';
import { ANNOTATION_INTERRUPTION } from '../../../src/apis/spindrift/annotations.ts';
import type { Clouds } from '../../../src/cloud/clouds.ts';
import type { NoticeKind, ReceivedNotice } from '../../../src/cloud/notice.ts';
import { NoticeReceiver } from '../../../src/controllers/interruption/notice-receiver.ts';
import { OwnWrites } from '../../../src/controllers/own-writes.ts';
import { EmbeddedCluster } from '../../../src/embedded/cluster.ts';
import { EventRecorder } from '../../../src/kube/event-recorder.ts';
import { type Fault, FaultyClient, type Verb } from '../../../src/kube/testkit/faulty-client.ts';
import type { EpochMs } from '../../../src/platform/clock.ts';
import { SILENT_LOGGER } from '../../../src/platform/logger.ts';
import { Metrics } from '../../../src/platform/metrics.ts';
import { seededRandom } from '../../../src/platform/random.ts';
import { VirtualClock } from '../../../src/platform/virtual-clock.ts';
import { ClusterInformers } from '../../../src/state/cluster-informers.ts';
import { ClusterState } from '../../../src/state/cluster-state.ts';
import { aClaim } from './testkit/fleet-world.ts';

const MOST_PENDING = 200;

/** A receiver, and a cloud whose every word is in our hands. */
async function setUp(
  notices: (signal: AbortSignal) => AsyncIterable<ReceivedNotice>,
  fault: (verb: Verb) => Fault | undefined = () => undefined,
  /** What a second cloud says. */
  others?: (signal: AbortSignal) => AsyncIterable<ReceivedNotice>,
) {
  const clock = new VirtualClock();
  const random = seededRandom('receiver');
  const { client } = new EmbeddedCluster({ clock, random });
  for (const definition of DEFINITIONS) await client.create(CUSTOM_RESOURCE_DEFINITIONS, definition);
  const informers = new ClusterInformers({ client, clock, random, nodeClasses: [] });
  const faulty = new FaultyClient({ client, clock, fault });
  const metrics = new Metrics();
  const clouds: Partial<Clouds> = {
    isOurs: () => true,
    takenBack: () => {},
    machineKey: ({ status }) => status?.providerID && `test/${status.providerID.slice('simulated:///'.length)}`,
    onNoticeSource: (callback) => {
      callback({ cloud: 'test', source: { name: 'test', receive: notices } });
      if (others !== undefined) callback({ cloud: 'second', source: { name: 'second', receive: others } });
      return () => {};
    },
  };
  const receiver = new NoticeReceiver({
    ...{ client, clock, random, metrics, logger: SILENT_LOGGER, state: new ClusterState(informers) },
    recorder: new EventRecorder({ client, clock, random, component: 'karpenter' }),
    clouds: clouds as Clouds,
    writes: new OwnWrites(faulty, informers),
    mostPending: MOST_PENDING,
    ...{ say: () => {}, onRebalance: () => 'Event' as const, recordNotice: () => {} },
  });
  const stop = new AbortController();
  const running = Promise.all([informers.run(stop.signal), receiver.run(stop.signal)]);
  const launch = async (name: string): Promise<void> => {
    const status = { providerID: `simulated:///${name}` };
    await client.patch(NODE_CLAIMS, { name }, { type: 'merge', body: { status } }, { subresource: 'status' });
  };
  const interrupted = async (name: string): Promise<boolean> =>
    (await client.get(NODE_CLAIMS, { name })).metadata.annotations?.[ANNOTATION_INTERRUPTION] !== undefined;
  const outcome = (name: string) => metrics.read('spindrift_interruption_notices_total', { outcome: name });
  const danger = (kind: string) => metrics.read('spindrift_interruptions_total', { kind });
  const received = () => metrics.read('karpenter_interruption_received_messages_total');
  const end = async (): Promise<void> => {
    stop.abort(new Error('the end'));
    await clock.run(running);
  };
  return { clock, client, launch, interrupted, outcome, danger, received, end };
}

function aNotice(
  name: string,
  acknowledge: () => Promise<void>,
  kind: NoticeKind = 'spot-interruption',
): ReceivedNotice {
  const at = 1_893_456_000_000 as EpochMs;
  return { kind, machine: name, at, source: 'test', detail: 'soon', acknowledge };
}

describe('the receiver of notices', () => {
  it('goes on after the source has failed, or has ended', async () => {
    let calls = 0;
    const acknowledged: number[] = [];
    const world = await setUp(async function* () {
      const call = calls++;
      if (call === 0) throw new Error('queue unreachable');
      if (call === 1) return;
      if (call > 4) await new Promise(() => {});
      yield aNotice('one', async () => void acknowledged.push(call));
      throw new Error('connection reset');
    });
    await world.client.create(NODE_CLAIMS, aClaim('one'));
    await world.launch('one');
    await world.clock.advance(60_000);
    expect(acknowledged).toEqual([2, 3, 4]);
    expect(await world.interrupted('one')).toBe(true);
    expect(await world.outcome('repeated')).toBe(2);
  });

  it('acknowledges only what is written, again until that succeeds, and acts once', async () => {
    let tries = 0;
    const order: boolean[] = [];
    const world = await setUp(async function* (signal) {
      yield aNotice('one', async () => {
        order.push(await world.interrupted('one'));
        if (++tries < 4) throw new Error('throttled');
      });
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    });
    await world.client.create(NODE_CLAIMS, aClaim('one'));
    await world.launch('one');
    await world.clock.advance(10_000);
    expect(order).toEqual([true, true, true, true]);
    expect(await world.outcome('acted')).toBe(1);
    expect(await world.outcome('repeated')).toBe(0);
    await world.end();
  });

  it('keeps a notice about a machine whose launch is not written down yet, and lets others pass', async () => {
    const acknowledged: string[] = [];
    const note = (name: string) => async () => void acknowledged.push(name);
    const world = await setUp(async function* (signal) {
      yield aNotice('young', note('young'));
      yield aNotice('one', note('one'));
      yield aNotice('other', note('other'));
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    });
    await world.client.create(NODE_CLAIMS, aClaim('young'));
    await world.client.create(NODE_CLAIMS, aClaim('one'));
    await world.launch('one');
    await world.clock.advance(5000);
    expect(acknowledged).toEqual(['one']);
    await world.launch('young');
    await world.clock.advance(1500);
    expect(await world.interrupted('young')).toBe(true);
    expect(acknowledged.toSorted()).toEqual(['one', 'other', 'young']);
    expect(await world.outcome('foreign')).toBe(1);
    await world.end();
  });

  it('waits with a machine that nobody knows for the launches under way when it was heard of, and for no later one', async () => {
    const acknowledged: string[] = [];
    const note = (name: string) => async () => void acknowledged.push(name);
    const world = await setUp(async function* (signal) {
      yield aNotice('slow', note('slow'));
      for (const name of ['other', 'gone']) yield aNotice(name, note(name));
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    });
    await world.client.create(NODE_CLAIMS, aClaim('slow'));
    await world.clock.advance(120_000);
    await world.client.create(NODE_CLAIMS, aClaim('later'));
    await world.clock.advance(1000);
    expect(acknowledged).toEqual([]);
    await world.launch('slow');
    await world.clock.advance(1000);
    expect(await world.interrupted('slow')).toBe(true);
    expect(acknowledged.toSorted()).toEqual(['gone', 'other', 'slow']);
    expect(await world.outcome('foreign')).toBe(2);
    await world.end();
  });

  it.each<NoticeKind>(['rebalance', 'reservation-ending'])(
    'counts a notice of which nothing is written once: %s',
    async (kind) => {
      const world = await setUp(async function* (signal) {
        for (let time = 0; time < 3; time++) yield aNotice('one', async () => {}, kind);
        yield aNotice('two', async () => {}, kind);
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      });
      for (const name of ['one', 'two']) {
        await world.client.create(NODE_CLAIMS, aClaim(name));
        await world.launch(name);
      }
      await world.clock.advance(5000);
      expect(await world.danger(kind)).toBe(2);
      expect(await world.outcome('told')).toBe(2);
      expect(await world.outcome('repeated')).toBe(2);
      await world.end();
    },
  );

  it('takes no more than it can hold while nothing can be written, however often notices come again', async () => {
    const sent = 300;
    const world = await setUp(
      async function* (signal) {
        for (let time = 0; time < sent; time++) yield aNotice('one', async () => {});
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      },
      (verb) => (away && verb === 'patch' ? { kind: 'lost' } : undefined),
    );
    let away = true;
    await world.client.create(NODE_CLAIMS, aClaim('one'));
    await world.launch('one');
    await world.clock.advance(60_000);
    expect(await world.received()).toBe(MOST_PENDING);
    away = false;
    await world.clock.advance(60_000);
    expect(await world.received()).toBe(sent);
    expect(await world.outcome('late')).toBe(1);
    expect(await world.outcome('repeated')).toBe(sent - 1);
    await world.end();
  });

  it('takes notices of every cloud again when there is room, where several had to wait', async () => {
    const sent = MOST_PENDING + 10;
    const silence = (signal: AbortSignal) =>
      new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    const world = await setUp(
      async function* (signal) {
        for (let time = 0; time < sent; time++) yield aNotice('one', async () => {});
        await silence(signal);
      },
      (verb) => (away && verb === 'patch' ? { kind: 'lost' } : undefined),
      async function* (signal) {
        await world.clock.sleep(30_000, signal);
        for (let time = 0; time < 10; time++) yield aNotice('foreign', async () => {});
        await silence(signal);
      },
    );
    let away = true;
    await world.client.create(NODE_CLAIMS, aClaim('one'));
    await world.launch('one');
    await world.clock.advance(60_000);
    expect(await world.received()).toBe(MOST_PENDING + 1);
    away = false;
    await world.clock.advance(60_000);
    expect(await world.received()).toBe(sent + 10);
    await world.end();
  });

  it('goes on when there is room, also while more machines than that wait for a launch to be written down', async () => {
    const world = await setUp(
      async function* (signal) {
        for (let machine = 0; machine < MOST_PENDING + 10; machine++) yield aNotice(`${machine}`, async () => {});
        await world.clock.sleep(1000, signal);
        for (let time = 0; time < MOST_PENDING + 10; time++) yield aNotice('one', async () => {});
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      },
      (verb) => (away && verb === 'patch' ? { kind: 'lost' } : undefined),
    );
    let away = true;
    await world.client.create(NODE_CLAIMS, aClaim('slow'));
    await world.client.create(NODE_CLAIMS, aClaim('one'));
    await world.launch('one');
    await world.clock.advance(60_000);
    expect(await world.received()).toBe(2 * MOST_PENDING + 10);
    away = false;
    await world.clock.advance(60_000);
    expect(await world.received()).toBe(2 * (MOST_PENDING + 10));
    await world.end();
  });
});
