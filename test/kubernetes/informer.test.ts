/** The informer while its API server is stopped, killed and started again. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CONFIG_MAPS, type ConfigMap } from '../../src/apis/kubernetes/core.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import { connect } from '../../src/kube/connect.ts';
import type { Connection } from '../../src/kube/connection.ts';
import { Informer } from '../../src/kube/informer.ts';
import { seededRandom } from '../../src/platform/random.ts';
import { RealClock } from '../../src/platform/real-clock.ts';
import type { ControlPlane } from './harness/control-plane.ts';
import { ownControlPlane } from './harness/own-control-plane.ts';

const clock = new RealClock();
let controlPlane: ControlPlane;
let client: KubeClient;
let connection: Connection;

beforeAll(async () => {
  controlPlane = ownControlPlane('informer');
  await controlPlane.start();
  ({ client, connection } = await connect({ clock, kubeconfig: controlPlane.kubeconfig }));
});

afterAll(async () => {
  await connection?.close();
  await controlPlane?.stop();
});

for (const initial of ['pages', 'stream'] as const) {
  describe(`an informer that starts by ${initial}`, () => {
    let stop: AbortController;
    let running: Promise<void>;
    let informer: Informer<ConfigMap>;
    let told: string[];
    const group = `group-${initial}`;

    beforeEach(async () => {
      stop = new AbortController();
      told = [];
      informer = new Informer({
        client,
        kind: CONFIG_MAPS,
        clock,
        random: seededRandom(initial),
        selection: { namespace: 'default', labelSelector: `group=${group}` },
        pageSize: 2,
        initial,
      });
      informer.addHandler({
        added: (object) => told.push(`added ${object.metadata.name}`),
        updated: (object) => told.push(`updated ${object.metadata.name}`),
        deleted: (object) => told.push(`deleted ${object.metadata.name}`),
      });
    });

    afterEach(async () => {
      stop.abort();
      await running;
    });

    const write = (name: string, value: string): Promise<ConfigMap> => {
      const body = { metadata: { name, namespace: 'default', labels: { group } }, data: { value } };
      const key = { namespace: 'default', name };
      return client.patch(CONFIG_MAPS, key, { type: 'apply', body }, { fieldManager: 'test' });
    };
    const until = (condition: () => boolean): Promise<void> =>
      new Promise((resolve) => {
        const check = (): void => {
          if (condition()) resolve();
          else setTimeout(check, 20);
        };
        check();
      });

    it('tells each change once, over a server that is killed and one that is stopped', async () => {
      for (const name of ['a', 'b', 'c']) await write(name, '1');
      running = informer.run(stop.signal);
      await informer.synced(stop.signal);
      expect([...told].sort()).toEqual(['added a', 'added b', 'added c']);

      await controlPlane.killApiServer();
      await controlPlane.startApiServer();
      await write('a', '2');
      await client.delete(CONFIG_MAPS, { namespace: 'default', name: 'b' });
      await write('d', '1');
      await until(() => told.length >= 6);

      await controlPlane.stopApiServer();
      await controlPlane.startApiServer();
      await write('e', '1');
      await until(() => told.length >= 7);

      expect(told.slice(3).sort()).toEqual(['added d', 'added e', 'deleted b', 'updated a']);
      const { items } = await client.list(CONFIG_MAPS, { namespace: 'default', labelSelector: `group=${group}` });
      const versions = (objects: readonly ConfigMap[]): string[] =>
        objects.map((object) => `${object.metadata.name} ${object.metadata.resourceVersion}`).sort();
      expect(versions(informer.list())).toEqual(versions(items));
    });
  });
}
