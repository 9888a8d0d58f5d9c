import { describe, expect, it } from 'vitest';
import { CONFIG_MAPS, type ConfigMap } from '../apis/kubernetes/core.ts';
import { patchNewest } from './patch-newest.ts';
import { World } from './testkit/world.ts';

const MAP: ConfigMap = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', namespace: 'default' },
  data: { n: '1' },
};
const countUp = ({ data }: ConfigMap): object => ({ data: { n: String(Number(data?.n) + 1) } });

describe('a change of an object', () => {
  it('is made anew on the newest state when somebody else was faster', async () => {
    await using world = new World();
    const known = await world.client.create(CONFIG_MAPS, MAP);
    await world.change(CONFIG_MAPS, 'a', { data: { n: '5' } });
    const changed = await patchNewest(world.client, CONFIG_MAPS, known, countUp);
    expect(changed?.data).toEqual({ n: '6' });
  });

  it('is not made when there is nothing to change, or when the object is gone or another', async () => {
    await using world = new World();
    const known = await world.client.create(CONFIG_MAPS, MAP);
    expect(await patchNewest(world.client, CONFIG_MAPS, known, () => undefined)).toBeUndefined();
    await world.client.delete(CONFIG_MAPS, { name: 'a', namespace: 'default' });
    expect(await patchNewest(world.client, CONFIG_MAPS, known, countUp)).toBeUndefined();
    await world.create(CONFIG_MAPS, MAP);
    expect(await patchNewest(world.client, CONFIG_MAPS, known, countUp)).toBeUndefined();
    expect((await world.get(CONFIG_MAPS, 'a')).data).toEqual({ n: '1' });
  });
});
