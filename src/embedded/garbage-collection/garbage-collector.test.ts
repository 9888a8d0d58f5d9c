import { describe, expect, it } from 'vitest';
import { CONFIG_MAPS, type ConfigMap } from '../../apis/kubernetes/core.ts';
import type { OwnerReference } from '../../apis/kubernetes/object.ts';
import { seededRandom } from '../../platform/random.ts';
import { VirtualClock } from '../../platform/virtual-clock.ts';
import { ApiServer } from '../apiserver/api-server.ts';
import { InMemoryClient } from '../in-memory-client.ts';
import { GarbageCollector } from './garbage-collector.ts';

function world() {
  const clock = new VirtualClock();
  const server = new ApiServer({ clock, random: seededRandom(1) });
  const client = new InMemoryClient(server);
  new GarbageCollector(server).start(new AbortController().signal);
  const make = (name: string, owners: readonly ConfigMap[] = [], more: Partial<OwnerReference> = {}) => {
    const ownerReferences = owners.map(({ metadata }) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: metadata.name!,
      uid: metadata.uid!,
      ...more,
    }));
    const metadata = { name, namespace: 'default', ...(owners.length > 0 && { ownerReferences }) };
    return client.create(CONFIG_MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata });
  };
  const remove = async (name: string, propagationPolicy: 'Background' | 'Foreground' | 'Orphan') => {
    await client.delete(CONFIG_MAPS, { name, namespace: 'default' }, { propagationPolicy });
    await clock.advance(0);
  };
  const names = async () => (await client.list(CONFIG_MAPS)).items.map(({ metadata }) => metadata.name);
  return { clock, client, make, remove, names };
}

describe('GarbageCollector', () => {
  it('takes what is owned along, at any depth', async () => {
    const { make, remove, names } = world();
    const top = await make('top');
    const middle = await make('middle', [top]);
    await make('bottom', [middle]);
    await make('other');
    await remove('top', 'Background');
    expect(await names()).toEqual(['other']);
  });

  it('keeps what still has another owner, and forgets the one that is gone', async () => {
    const { client, make, remove, names } = world();
    const [a, b] = [await make('a'), await make('b')];
    await make('shared', [a, b]);
    await remove('a', 'Background');
    const shared = await client.get(CONFIG_MAPS, { name: 'shared', namespace: 'default' });
    expect(shared.metadata.ownerReferences?.map(({ name }) => name)).toEqual(['b']);
    await remove('b', 'Background');
    expect(await names()).toEqual([]);
  });

  it('deletes an object whose owner never was, unless it cannot know the kind', async () => {
    const { clock, make, names } = world();
    const ghost = { metadata: { name: 'ghost', uid: 'ghost' } } as ConfigMap;
    await make('haunted', [ghost]);
    await make('foreign', [ghost], { apiVersion: 'elsewhere.example/v1', kind: 'Unknown' });
    await clock.advance(0);
    expect(await names()).toEqual(['foreign']);
  });

  it('lets an owner wait for those that block it when the deletion is in the foreground', async () => {
    const { client, clock, make, remove, names } = world();
    const owner = await make('owner');
    await make('blocks', [owner], { blockOwnerDeletion: true });
    const key = { name: 'blocks', namespace: 'default' };
    const finalizers = (value: string[] | null) =>
      ({ type: 'merge', body: { metadata: { finalizers: value } } }) as const;
    await client.patch(CONFIG_MAPS, key, finalizers(['example.com/hold']));
    await remove('owner', 'Foreground');
    expect(await names()).toEqual(['blocks', 'owner']);
    await client.patch(CONFIG_MAPS, key, finalizers(null));
    await clock.advance(0);
    expect(await names()).toEqual([]);
  });

  it('leaves orphans behind when told to', async () => {
    const { client, make, remove, names } = world();
    await make('child', [await make('parent')]);
    await remove('parent', 'Orphan');
    expect(await names()).toEqual(['child']);
    const child = await client.get(CONFIG_MAPS, { name: 'child', namespace: 'default' });
    expect(child.metadata.ownerReferences).toBeUndefined();
  });

  it('ends a deletion in the foreground although objects own each other in a circle', async () => {
    const { client, make, remove, names } = world();
    const first = await make('first');
    const second = await make('second', [first], { blockOwnerDeletion: true });
    const back = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: 'second',
      uid: second.metadata.uid!,
      blockOwnerDeletion: true,
    };
    const body = { metadata: { ownerReferences: [back] } };
    await client.patch(CONFIG_MAPS, { name: 'first', namespace: 'default' }, { type: 'merge', body });
    await remove('first', 'Foreground');
    expect(await names()).toEqual([]);
  });
});
