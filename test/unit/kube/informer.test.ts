import { describe, expect, it } from 'vitest';
import { CONFIG_MAPS, type ConfigMap } from '../../../src/apis/kubernetes/core.ts';
import { PODS, type Pod } from '../../../src/apis/kubernetes/pod.ts';
import { ApiServer } from '../../../src/embedded/apiserver/api-server.ts';
import { InMemoryClient } from '../../../src/embedded/in-memory-client.ts';
import { Informer, type InformerOptions, withoutManagedFields } from '../../../src/kube/informer.ts';
import { KubeError } from '../../../src/kube/kube-error.ts';
import { type Fault, FaultyClient, type Verb } from '../../../src/kube/testkit/faulty-client.ts';
import { seededRandom } from '../../../src/platform/random.ts';
import { VirtualClock } from '../../../src/platform/virtual-clock.ts';

function setUp(options: Partial<InformerOptions<ConfigMap>> = {}) {
  const clock = new VirtualClock();
  const api = new ApiServer({ clock, random: seededRandom('server') });
  const server = new InMemoryClient(api);
  const requests: Verb[] = [];
  const trouble: { fault?: (verb: Verb) => Fault | undefined } = {};
  const faulty = new FaultyClient({
    client: server,
    clock,
    fault: (verb) => {
      requests.push(verb);
      return trouble.fault?.(verb);
    },
  });
  const selection = { namespace: 'default', labelSelector: 'test' };
  const random = seededRandom('informer');
  const informer = new Informer({ client: faulty, kind: CONFIG_MAPS, clock, random, selection, ...options });
  const stop = new AbortController();
  const write = async (name: string, value = '1'): Promise<void> => {
    const metadata = { name, namespace: 'default', labels: { test: '' } };
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { value } };
    const exists = informer.get(`default/${name}`) !== undefined;
    await (exists ? server.replace(CONFIG_MAPS, object) : server.create(CONFIG_MAPS, object));
  };
  const start = (): void => void informer.run(stop.signal);
  return { clock, server, faulty, informer, stop, start, write, requests, trouble };
}

describe('Informer', () => {
  it('has synced when the present state is in the cache and handlers have heard of it', async () => {
    const { clock, informer, start, stop, write } = setUp();
    await write('a');
    const added: string[] = [];
    informer.addHandler({ added: (object) => added.push(object.metadata.name!) });
    const synced = informer.synced(stop.signal);
    expect(informer.hasSynced).toBe(false);
    start();
    await clock.run(synced);
    expect(informer.hasSynced).toBe(true);
    expect(added).toEqual(['a']);
  });

  it('tells a handler that comes late of everything that is there', async () => {
    const { clock, informer, start, write } = setUp();
    await write('a');
    start();
    await clock.advance(0);
    const added: string[] = [];
    informer.addHandler({ added: (object) => added.push(object.metadata.name!) });
    expect(added).toEqual(['a']);
  });

  it('gives the old and the new object of an update', async () => {
    const { clock, informer, start, write } = setUp();
    const updates: string[] = [];
    informer.addHandler({ updated: (object, old) => updates.push(`${old.data?.value} → ${object.data?.value}`) });
    await write('a', '1');
    start();
    await clock.advance(0);
    await write('a', '2');
    await clock.advance(0);
    expect(updates).toEqual(['1 → 2']);
  });

  it('gives what is deleted as it was at its end, and as it was known before', async () => {
    const { clock, server, informer, start, write } = setUp();
    const gone: (string | undefined)[][] = [];
    informer.addHandler({
      deleted: (object, known) => gone.push([object, known].map(({ metadata }) => metadata.deletionTimestamp)),
    });
    await write('a');
    start();
    await clock.advance(0);
    await server.delete(CONFIG_MAPS, { namespace: 'default', name: 'a' });
    await clock.advance(0);
    expect(gone).toEqual([['2030-01-01T00:00:00Z', undefined]]);
  });

  it('keeps everything but managedFields, and leaves the received object as it was', () => {
    const metadata = { name: 'a', managedFields: [{ manager: 'someone' }] };
    const received = Object.freeze({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: Object.freeze(metadata),
      data: {},
    });
    expect(withoutManagedFields(received)).toEqual({ ...received, metadata: { name: 'a' } });
    expect(received.metadata.managedFields).toHaveLength(1);
  });

  it('finds objects by index, as they are now', async () => {
    const { clock, server, informer, start, write } = setUp({ indexers: { value: (object) => [object.data!.value!] } });
    await write('a', 'x');
    await write('b', 'x');
    start();
    await clock.advance(0);
    const names = (value: string): string[] => informer.byIndex('value', value).map((object) => object.metadata.name!);
    expect(names('x')).toEqual(['a', 'b']);
    await write('a', 'y');
    await server.delete(CONFIG_MAPS, { namespace: 'default', name: 'b' });
    await clock.advance(0);
    expect(names('x')).toEqual([]);
    expect(names('y')).toEqual(['a']);
    expect(() => informer.byIndex('no-such-index', 'x')).toThrow('there is no index no-such-index');
  });

  it('lists in pages', async () => {
    const { clock, informer, start, write, requests } = setUp({ pageSize: 2 });
    for (const name of ['a', 'b', 'c', 'd', 'e']) await write(name);
    start();
    await clock.advance(0);
    expect(requests).toEqual(['list', 'list', 'list', 'watch']);
    expect(informer.size).toBe(5);
  });

  it('streams the present state over the watch when asked to', async () => {
    const { clock, informer, start, write, requests } = setUp({ initial: 'stream' });
    await write('a');
    start();
    await clock.advance(100);
    expect(requests).toEqual(['watch']);
    expect(informer.hasSynced).toBe(true);
    expect(informer.state.phase).toBe('watching');
  });

  it('falls back to pages where the server cannot stream', async () => {
    const { clock, informer, start, write, requests, trouble } = setUp({ initial: 'stream' });
    const status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      code: 400,
      message: 'sendInitialEvents is forbidden',
    } as const;
    trouble.fault = (verb) =>
      verb === 'watch' && requests.length === 1 ? { kind: 'refused', error: new KubeError(status) } : undefined;
    await write('a');
    start();
    await clock.advance(100);
    expect(requests).toEqual(['watch', 'list', 'watch']);
    expect(informer.size).toBe(1);
  });

  it('opens a broken watch again where it left off, without listing', async () => {
    const { clock, faulty, informer, start, write, requests } = setUp();
    start();
    await clock.advance(10_000);
    faulty.cutWatches('broken');
    await write('a');
    await clock.advance(10_000);
    expect(requests).toEqual(['list', 'watch', 'watch']);
    expect(informer.size).toBe(1);
  });

  it('waits longer and longer while the server is away, and never hammers it', async () => {
    const { clock, informer, start, requests, trouble } = setUp();
    trouble.fault = () => ({ kind: 'lost' });
    start();
    await clock.advance(10 * 60_000);
    expect(informer.state.phase).toBe('backing-off');
    // Five doublings from 0.8 s and then at least every 30 to 60 s.
    expect(requests.length).toBeGreaterThan(12);
    expect(requests.length).toBeLessThan(30);
    trouble.fault = () => undefined;
    await clock.advance(60_000);
    expect(informer.hasSynced).toBe(true);
  });

  it('does not hammer a server that ends every watch at once, or says that every version has expired', async () => {
    const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, code: 410, reason: 'Expired' } as const;
    const endings = ['ended', new KubeError(status)] as const;
    for (const ending of endings) {
      const { clock, faulty, start, requests } = setUp();
      start();
      for (let step = 0; step < 6000; step++) {
        await clock.advance(100);
        faulty.cutWatches(ending);
      }
      expect(requests.length).toBeLessThan(80);
    }
  });

  it('goes on when a handler throws', async () => {
    const { clock, informer, start, write } = setUp();
    const heard: string[] = [];
    informer.addHandler({
      added: () => {
        throw new Error('a bug');
      },
    });
    informer.addHandler({ added: (object) => heard.push(object.metadata.name!) });
    start();
    await clock.advance(0);
    await write('a');
    await clock.advance(0);
    expect(heard).toEqual(['a']);
  });

  it('tells of an object that was made anew while it was not listening as deleted and added', async () => {
    const { clock, server, faulty, informer, start, write } = setUp();
    const log: string[] = [];
    informer.addHandler({
      added: () => log.push('added'),
      updated: () => log.push('updated'),
      deleted: () => log.push('deleted'),
    });
    await write('a');
    start();
    await clock.advance(2000);
    const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, code: 410, reason: 'Expired' } as const;
    // All before the informer hears of it.
    faulty.cutWatches(new KubeError(status));
    const { metadata, ...rest } = informer.get('default/a')!;
    await server.delete(CONFIG_MAPS, { namespace: 'default', name: 'a' });
    const { name, namespace, labels } = metadata as Required<typeof metadata>;
    await server.create(CONFIG_MAPS, { ...rest, metadata: { name, namespace, labels } });
    await clock.advance(60_000);
    expect(log).toEqual(['added', 'deleted', 'added']);
  });

  it('watches again by itself before the server would have to be asked for ever', async () => {
    const { clock, start, requests } = setUp();
    start();
    await clock.advance(3_600_000);
    const watches = requests.filter((verb) => verb === 'watch').length;
    // A watch lives for 5 to 10 minutes.
    expect(watches).toBeGreaterThanOrEqual(6);
    expect(watches).toBeLessThanOrEqual(13);
    expect(requests.filter((verb) => verb === 'list')).toHaveLength(1);
  });

  it('ends when its signal aborts', async () => {
    const { clock, informer, stop } = setUp();
    const running = informer.run(stop.signal);
    await clock.advance(100);
    stop.abort();
    await clock.run(running);
    await expect(informer.synced(stop.signal)).resolves.toBeUndefined();
  });

  it('can be asked for another kind', async () => {
    const { clock, server } = setUp();
    const informer = new Informer<Pod>({ client: server, kind: PODS, clock, random: seededRandom(1) });
    const stop = new AbortController();
    const running = informer.run(stop.signal);
    await clock.run(informer.synced(stop.signal));
    expect(informer.list()).toEqual([]);
    stop.abort();
    await running;
  });
});
