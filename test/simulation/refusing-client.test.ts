import { describe, expect, it } from 'vitest';
import { NAMESPACES } from '../../src/apis/kubernetes/core.ts';
import { NODES } from '../../src/apis/kubernetes/node.ts';
import { aNode } from '../../src/embedded/testkit/objects.ts';
import { World } from '../../src/embedded/testkit/world.ts';
import { seededRandom } from '../../src/platform/random.ts';
import { REFUSAL_CODES, type Refusal, refusingClient } from './refusing-client.ts';

const ERRORS = {
  403: 'KUBE_FORBIDDEN',
  409: 'KUBE_CONFLICT',
  429: 'KUBE_THROTTLED',
  500: 'KUBE_SERVER_ERROR',
};

describe('an API server that refuses', () => {
  it.each(REFUSAL_CODES)(
    'answers %s to what the refusal is about, and to nothing else, for as long as it lasts',
    async (code) => {
      await using world = new World();
      let refusal: Refusal | undefined = { code, verbs: ['create'], kind: 'nodes', share: 1 };
      const client = refusingClient(world.client, world.clock, seededRandom('refusals'), () => refusal);
      const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } };
      await expect(client.create(NODES, aNode('a'))).rejects.toMatchObject({ code: ERRORS[code] });
      await client.create(NAMESPACES, namespace);
      expect((await client.list(NODES)).items).toEqual([]);
      refusal = undefined;
      await client.create(NODES, aNode('a'));
      refusal = { code, verbs: ['delete'], share: 1 };
      await expect(client.delete(NODES, { name: 'a' })).rejects.toMatchObject({ code: ERRORS[code] });
      await expect(client.delete(NAMESPACES, { name: 'team' })).rejects.toMatchObject({ code: ERRORS[code] });
    },
  );

  it('refuses a share of it', async () => {
    await using world = new World();
    const refusal: Refusal = { code: 500, verbs: ['create'], share: 0.3 };
    const client = refusingClient(world.client, world.clock, seededRandom('refusals'), () => refusal);
    const asked = Array.from({ length: 100 }, (_, index) => client.create(NODES, aNode(`node-${index}`)));
    const refused = (await Promise.allSettled(asked)).filter(({ status }) => status === 'rejected').length;
    expect(refused).toBeGreaterThan(15);
    expect(refused).toBeLessThan(45);
  });
});
