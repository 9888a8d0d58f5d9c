/** Two clouds in one process: the simulated one and a tiny one of another node class kind, on the embedded cluster. */
import { afterEach, describe, expect, it } from 'vitest';
import { NODE_CLAIMS, type NodeClaim } from '../../../src/apis/karpenter/node-claim.ts';
import { NODE_POOLS, type NodePool } from '../../../src/apis/karpenter/node-pool.ts';
import { NODES } from '../../../src/apis/kubernetes/node.ts';
import { DEPLOYMENTS } from '../../../src/apis/kubernetes/workloads.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../../src/apis/schema/custom-resource-definition.ts';
import { SIMULATED_NODE_CLASSES } from '../../../src/apis/spindrift/simulated-node-class.ts';
import { Autoscaler } from '../../../src/app/autoscaler.ts';
import { DEFAULT_NODE_CLASS, DEFAULT_NODE_POOL } from '../../../src/app/default-pool.ts';
import { installDefinitions } from '../../../src/app/install-definitions.ts';
import { loadSimulatedCloud } from '../../../src/cloud/simulated/module.ts';
import { EmbeddedCluster } from '../../../src/embedded/cluster.ts';
import { aDeployment, aTemplate } from '../../../src/embedded/testkit/workloads.ts';
import type { Logger } from '../../../src/platform/logger.ts';
import { SILENT_LOGGER } from '../../../src/platform/logger.ts';
import { Metrics } from '../../../src/platform/metrics.ts';
import { seededRandom } from '../../../src/platform/random.ts';
import { VirtualClock } from '../../../src/platform/virtual-clock.ts';
import { TINY_KIND, TINY_NODE_CLASSES, TinyCloud } from './testkit/tiny-cloud.ts';

const MINUTE = 60_000;

function tinyPool(): NodePool {
  const { template } = DEFAULT_NODE_POOL.spec;
  const nodeClassRef = { group: 'tiny.example.com', kind: 'TinyNodeClass', name: 'home' };
  const spec = { ...template.spec, nodeClassRef, requirements: [] };
  return { ...DEFAULT_NODE_POOL, metadata: { name: 'tiny' }, spec: { ...DEFAULT_NODE_POOL.spec, template: { spec } } };
}

async function start(options: { readonly price: number; readonly installTiny?: boolean }) {
  const clock = new VirtualClock();
  const random = seededRandom('two clouds');
  const cluster = new EmbeddedCluster({ clock, random });
  const { client } = cluster;
  const stop = new AbortController();
  const said: string[] = [];
  const logger: Logger = { ...SILENT_LOGGER, warn: (text) => void said.push(text), with: () => logger };
  const tiny = new TinyCloud();
  const simulated = await loadSimulatedCloud({ powerOff: (node) => cluster.kubelets.kill(node) });
  const clouds = [tiny.loaded(), simulated];
  const running: Promise<unknown>[] = [cluster.run(stop.signal)];
  await clock.run(installDefinitions(client, options.installTiny === false ? [simulated] : clouds, stop.signal));
  await client.create(SIMULATED_NODE_CLASSES, DEFAULT_NODE_CLASS);
  await client.create(NODE_POOLS, DEFAULT_NODE_POOL);
  const addTiny = async (): Promise<void> => {
    const nodeClass = { apiVersion: 'tiny.example.com/v1', kind: 'TinyNodeClass', metadata: { name: 'home' } };
    await client.create(TINY_NODE_CLASSES, { ...nodeClass, spec: { price: options.price } });
  };
  if (options.installTiny !== false) await addTiny();
  await client.create(NODE_POOLS, tinyPool());
  const autoscaler = new Autoscaler({
    ...{ client, clock, random, logger, metrics: new Metrics(), cluster: 'test', clouds },
    ...{ batchIdleMs: 1000, batchMaxMs: 10_000, solveSteps: 200_000 },
  });
  running.push(autoscaler.watch(stop.signal), autoscaler.act(stop.signal));
  await clock.advance(15_000);
  const deploy = (name: string, replicas: number, cpu = '1500m') => {
    const containers = [{ name: 'main', image: 'app:1', resources: { requests: { cpu } } }];
    return client.create(
      DEPLOYMENTS,
      aDeployment(name, { replicas, template: aTemplate(name, 'app:1', { containers }) }),
    );
  };
  const claims = async (): Promise<readonly NodeClaim[]> => (await client.list(NODE_CLAIMS)).items;
  const pools = async () => (await claims()).map(({ metadata }) => metadata.labels?.['karpenter.sh/nodepool']).sort();
  const ready = async (pool: string) =>
    (await client.get(NODE_POOLS, { name: pool })).status?.conditions?.find(({ type }) => type === 'NodeClassReady');
  const end = async (): Promise<void> => {
    stop.abort(new Error('the end'));
    await clock.run(Promise.allSettled(running), 'the end of the world');
  };
  return { clock, client, tiny, said, deploy, claims, pools, ready, addTiny, end };
}

describe('two clouds in one process', () => {
  let world: Awaited<ReturnType<typeof start>>;

  afterEach(() => world.end());

  describe('of which the tiny one is cheaper', () => {
    it('serve pods from it, with the hash of its node class on the claim', async () => {
      world = await start({ price: 0.0001 });
      await world.deploy('web', 4);
      await world.clock.advance(MINUTE);
      expect(await world.pools()).toEqual(['tiny', 'tiny']);
      const [claim] = await world.claims();
      expect(claim?.status?.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({ status: 'True' });
      expect(claim?.metadata.annotations).toMatchObject({ 'tiny.example.com/hash': '0.0001' });
    });

    it('serve pods from the other one, not a second later, while it does not answer', async () => {
      world = await start({ price: 0.0001 });
      const timed = async (name: string): Promise<number> => {
        const before = (await world.claims()).length;
        const startedAt = world.clock.elapsed();
        await world.deploy(name, 1);
        while ((await world.claims()).length === before) await world.clock.advance(50);
        return world.clock.elapsed() - startedAt;
      };
      const usual = await timed('first');
      world.tiny.down = true;
      await world.clock.advance(2 * MINUTE);
      // Its catalogue is remembered, so its launch fails: that claim does not hold up the others.
      await world.client.delete(NODE_POOLS, { name: 'tiny' });
      expect(await timed('second')).toBeLessThan(usual + 1000);
      await world.clock.advance(MINUTE);
      expect(await world.pools()).toContain('default');
    });

    it("hear of each other's machines nothing, and clear nothing of each other away", async () => {
      world = await start({ price: 0.0001 });
      await world.deploy('web', 2);
      await world.clock.advance(MINUTE);
      const [claim] = await world.claims();
      const [id = ''] = world.tiny.machines.keys();
      // A notice of the one cloud that names the machine of the other as that names it.
      const now = world.clock.now();
      world.tiny.interrupt('i-00000000000000000', now, now + 120_000);
      await world.clock.advance(10 * MINUTE);
      expect((await world.claims()).map(({ metadata }) => metadata.name)).toEqual([claim?.metadata.name]);
      expect([...world.tiny.machines.keys()]).toEqual([id]);
      world.tiny.interrupt(id, world.clock.now(), world.clock.now() + 120_000);
      await world.clock.advance(5 * MINUTE);
      expect((await world.claims()).map(({ metadata }) => metadata.name)).not.toContain(claim?.metadata.name);
    });

    it('collect a machine that has no claim, each in its own cloud', async () => {
      world = await start({ price: 0.0001 });
      await world.deploy('web', 2);
      await world.clock.advance(MINUTE);
      const [[, machine] = []] = world.tiny.machines;
      world.tiny.machines.set('t-lost', {
        ...machine!,
        providerID: 'tiny:///home/t-lost',
        claim: { name: 'x', uid: 'x' },
      });
      await world.clock.advance(10 * MINUTE);
      expect([...world.tiny.machines.values()].map(({ claim }) => claim.name)).toEqual([machine?.claim.name]);
    });

    it('keep a node class until no claim refers to it, and clean up then', async () => {
      world = await start({ price: 0.0001 });
      await world.deploy('web', 2);
      await world.clock.advance(MINUTE);
      await world.client.delete(TINY_NODE_CLASSES, { name: 'home' });
      await world.clock.advance(MINUTE);
      expect(world.tiny.cleaned).toEqual([]);
      expect(await world.ready('tiny')).toMatchObject({ status: 'False', reason: 'NodeClassTerminating' });
      await world.client.delete(DEPLOYMENTS, { name: 'web', namespace: 'default' });
      await world.client.delete(NODE_POOLS, { name: 'tiny' });
      for (const { metadata } of await world.claims()) await world.client.delete(NODE_CLAIMS, { name: metadata.name! });
      await world.clock.advance(2 * MINUTE);
      expect(world.tiny.cleaned).toEqual(['home']);
      expect((await world.client.list(TINY_NODE_CLASSES)).items).toEqual([]);
      expect((await world.client.list(NODES)).items).toEqual([]);
    });

    it('say on a pool what its node class lacks, in the words of the class', async () => {
      world = await start({ price: 0.0001 });
      await world.client.patch(TINY_NODE_CLASSES, { name: 'home' }, { type: 'merge', body: { spec: { price: 0 } } });
      await world.clock.advance(10_000);
      expect(await world.ready('tiny')).toMatchObject({
        reason: 'PriceMissing',
        message: 'spec.price must be above 0',
      });
      expect(await world.ready('default')).toMatchObject({ status: 'True' });
    });
  });

  it('of which the one is dearer, leave it alone', async () => {
    world = await start({ price: 100 });
    await world.deploy('web', 4);
    await world.clock.advance(MINUTE);
    expect(new Set(await world.pools())).toEqual(new Set(['default']));
    expect(world.tiny.machines.size).toBe(0);
  });

  it('of which one has no definition wait for it alone, and say once what is missing', async () => {
    world = await start({ price: 0.0001, installTiny: false });
    await world.deploy('web', 1);
    await world.clock.advance(MINUTE);
    expect(await world.pools()).toEqual(['default']);
    expect(world.said.filter((text) => text.includes('not installed'))).toHaveLength(1);
    expect(await world.ready('tiny')).toMatchObject({ status: 'False', reason: 'CloudNotOpen' });
    await world.client.create(CUSTOM_RESOURCE_DEFINITIONS, TINY_KIND.definition);
    await world.addTiny();
    await world.clock.advance(2 * MINUTE);
    expect(await world.ready('tiny')).toMatchObject({ status: 'True' });
    await world.deploy('more', 2, '2500m');
    await world.clock.advance(MINUTE);
    expect(await world.pools()).toContain('tiny');
  });
});
