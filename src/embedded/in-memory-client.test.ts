import { describe, expect, it } from 'vitest';
import { CONFIG_MAPS, type ConfigMap } from '../apis/kubernetes/core.ts';
import { PODS, type Pod } from '../apis/kubernetes/pod.ts';
import type { WatchEvent } from '../kube/client.ts';
import { seededRandom } from '../platform/random.ts';
import { VirtualClock } from '../platform/virtual-clock.ts';
import { ApiServer } from './apiserver/api-server.ts';
import { InMemoryClient } from './in-memory-client.ts';

function world(rememberedEvents?: number) {
  const clock = new VirtualClock();
  const server = new ApiServer({
    clock,
    random: seededRandom(1),
    ...(rememberedEvents === undefined ? {} : { rememberedEvents }),
  });
  return { clock, server, client: new InMemoryClient(server) };
}

function configMap(name: string, data: Record<string, string> = {}): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data };
}

function pod(name: string): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: { containers: [{ name: 'main', image: 'web:1' }] },
  };
}

describe('InMemoryClient', () => {
  it('gives back what was created, frozen and with what the server adds', async () => {
    const { client } = world();
    const created = await client.create(CONFIG_MAPS, configMap('a', { k: 'v' }));
    expect(created.metadata).toMatchObject({ name: 'a', creationTimestamp: '2030-01-01T00:00:00Z' });
    expect(created.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
    expect(Object.isFrozen(created.data)).toBe(true);
    expect(await client.get(CONFIG_MAPS, { name: 'a', namespace: 'default' })).toBe(created);
  });

  it('fails with the words of kube-apiserver', async () => {
    const { client } = world();
    const key = { name: 'x', namespace: 'default' };
    await expect(client.get(PODS, key)).rejects.toMatchObject({
      code: 'KUBE_NOT_FOUND',
      message: 'pods "x" not found',
    });
    const first = await client.create(CONFIG_MAPS, configMap('x'));
    await expect(client.create(CONFIG_MAPS, configMap('x'))).rejects.toMatchObject({
      code: 'KUBE_ALREADY_EXISTS',
      message: 'configmaps "x" already exists',
    });
    await client.replace(CONFIG_MAPS, { ...first, data: { a: '1' } });
    await expect(client.replace(CONFIG_MAPS, { ...first, data: { a: '2' } })).rejects.toMatchObject({
      code: 'KUBE_CONFLICT',
      message:
        'Operation cannot be fulfilled on configmaps "x": the object has been modified; please apply your changes to the latest version and try again',
    });
  });

  it('tells watchers of every change in order, and ends with the signal', async () => {
    const { client } = world();
    const stop = new AbortController();
    const seen: string[] = [];
    const watching = (async () => {
      for await (const event of client.watch(CONFIG_MAPS, { namespace: 'default' }, { signal: stop.signal })) {
        seen.push(describeEvent(event));
        if (seen.length === 4) stop.abort();
      }
    })();
    await client.create(CONFIG_MAPS, configMap('a', { k: '1' }));
    await client.patch(CONFIG_MAPS, { name: 'a', namespace: 'default' }, { type: 'merge', body: { data: { k: '2' } } });
    await client.delete(CONFIG_MAPS, { name: 'a', namespace: 'default' });
    await client.create(CONFIG_MAPS, configMap('b'));
    await watching;
    expect(seen).toEqual(['ADDED a 1', 'MODIFIED a 2', 'DELETED a 2', 'ADDED b undefined']);
  });

  it('lets a watch that fell behind the remembered events fail with 410', async () => {
    const { client } = world(4);
    const { resourceVersion } = await client.list(CONFIG_MAPS);
    for (let index = 0; index < 20; index++) await client.create(CONFIG_MAPS, configMap(`c${index}`));
    const iterate = async () => {
      const query = { resourceVersion };
      for await (const event of client.watch(CONFIG_MAPS, query, { signal: new AbortController().signal }))
        return event;
      return undefined;
    };
    await expect(iterate()).rejects.toMatchObject({ code: 'KUBE_EXPIRED' });
  });

  it('gives pages of one moment, even when objects come and go between them', async () => {
    const { client } = world();
    for (const name of ['a', 'b', 'c', 'd']) await client.create(CONFIG_MAPS, configMap(name));
    const first = await client.list(CONFIG_MAPS, { namespace: 'default', limit: 2 });
    await client.delete(CONFIG_MAPS, { name: 'c', namespace: 'default' });
    await client.create(CONFIG_MAPS, configMap('bb'));
    const second = await client.list(CONFIG_MAPS, { namespace: 'default', limit: 2, continue: first.continue! });
    expect([first, second].map((page) => page.items.map((item) => item.metadata.name))).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
    expect(second.resourceVersion).toBe(first.resourceVersion);
    expect(second.continue).toBeUndefined();
  });

  it('deletes a running pod only after its grace period has been used', async () => {
    const { client } = world();
    const key = { name: 'web', namespace: 'default' };
    await client.create(PODS, pod('web'));
    await client.bind(key, 'node-1');
    const marked = (await client.delete(PODS, key)) as Pod;
    expect(marked.metadata).toMatchObject({
      deletionTimestamp: '2030-01-01T00:00:30Z',
      deletionGracePeriodSeconds: 30,
    });
    expect(await client.delete(PODS, key, { gracePeriodSeconds: 0 })).toMatchObject({ status: 'Success' });
    await expect(client.get(PODS, key)).rejects.toMatchObject({ code: 'KUBE_NOT_FOUND' });
  });
});

function describeEvent(event: WatchEvent<ConfigMap>): string {
  return event.type === 'BOOKMARK' ? event.type : `${event.type} ${event.object.metadata.name} ${event.object.data?.k}`;
}
