/** The autoscaler as one replica of several: what it does in a second term of leadership, in virtual time. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { NODE_CLAIMS } from '../apis/karpenter/node-claim.ts';
import { NODE_POOLS } from '../apis/karpenter/node-pool.ts';
import { PODS, type Pod } from '../apis/kubernetes/pod.ts';
import { DEPLOYMENTS } from '../apis/kubernetes/workloads.ts';
import { SIMULATED_NODE_CLASSES } from '../apis/spindrift/simulated-node-class.ts';
import { loadSimulatedCloud } from '../cloud/simulated/module.ts';
import { EmbeddedCluster } from '../embedded/cluster.ts';
import { aDeployment, aTemplate } from '../embedded/testkit/workloads.ts';
import { Informer } from '../kube/informer.ts';
import { type Fault, FaultyClient, type Verb } from '../kube/testkit/faulty-client.ts';
import { SILENT_LOGGER } from '../platform/logger.ts';
import { Metrics } from '../platform/metrics.ts';
import { seededRandom } from '../platform/random.ts';
import { VirtualClock } from '../platform/virtual-clock.ts';
import { Autoscaler } from './autoscaler.ts';
import { DEFAULT_NODE_CLASS, DEFAULT_NODE_POOL } from './default-pool.ts';
import { installDefinitions } from './install-definitions.ts';

const MINUTE = 60_000;

async function setUp(cpuLimit: string) {
  const clock = new VirtualClock();
  const random = seededRandom('terms');
  const cluster = new EmbeddedCluster({ clock, random });
  const stop = new AbortController();
  const { client } = cluster;
  const trouble: { fault?: (verb: Verb, kind: string) => Fault | undefined } = {};
  const faulty = new FaultyClient({ client, clock, fault: (verb, kind) => trouble.fault?.(verb, kind) });
  const running: Promise<unknown>[] = [cluster.run(stop.signal)];
  const clouds = [await loadSimulatedCloud({ powerOff: (node) => cluster.kubelets.kill(node) })];
  await clock.run(installDefinitions(client, clouds, stop.signal));
  await client.create(SIMULATED_NODE_CLASSES, DEFAULT_NODE_CLASS);
  const { spec } = DEFAULT_NODE_POOL;
  await client.create(NODE_POOLS, { ...DEFAULT_NODE_POOL, spec: { ...spec, limits: { cpu: cpuLimit } } });
  const autoscaler = new Autoscaler({
    ...{ client: faulty, clock, random, logger: SILENT_LOGGER, metrics: new Metrics(), cluster: 'test' },
    ...{ batchIdleMs: 1000, batchMaxMs: 10_000, solveSteps: 200_000 },
    clouds,
  });
  running.push(autoscaler.watch(stop.signal));
  let term = new AbortController();
  let acting: Promise<void> = Promise.resolve();
  const lead = (): void => {
    term = new AbortController();
    acting = autoscaler.act(term.signal);
  };
  const loseLeadership = async (): Promise<void> => {
    term.abort(new Error('leadership lost'));
    await clock.run(acting, 'the end of the term');
  };
  const end = async (): Promise<void> => {
    await loseLeadership();
    stop.abort(new Error('the end'));
    await clock.run(Promise.all(running), 'the end of the world');
  };
  lead();
  await clock.advance(10_000);
  return { clock, client, trouble, lead, loseLeadership, endTerm: () => term.abort(new Error('leadership lost')), end };
}

/** Each pod needs a node of its own: no two of them get on. */
function web(replicas: number) {
  const labels = { app: 'web' };
  const apart = { labelSelector: { matchLabels: labels }, topologyKey: 'kubernetes.io/hostname' };
  const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [apart] } };
  const containers = [{ name: 'main', image: 'app:1', resources: { requests: { cpu: '1500m' } } }];
  const template = aTemplate('web', 'app:1', { containers, affinity } as Partial<Pod['spec']>);
  return aDeployment('web', { replicas, template });
}

describe('an autoscaler that leads again', () => {
  it('asks pods to leave that the former term did not get rid of', async () => {
    const { clock, client, trouble, lead, loseLeadership, end } = await setUp('100');
    await client.create(DEPLOYMENTS, web(1));
    await clock.advance(3 * MINUTE);
    const [claim] = (await client.list(NODE_CLAIMS)).items;
    trouble.fault = (verb) => (verb === 'evict' ? { kind: 'lost' } : undefined);
    await client.delete(NODE_CLAIMS, { name: claim!.metadata.name! });
    await clock.advance(12_000);
    await loseLeadership();
    trouble.fault = () => undefined;
    lead();
    await clock.advance(5 * MINUTE);
    const names = (await client.list(NODE_CLAIMS)).items.map(({ metadata }) => metadata.name);
    expect(names).toHaveLength(1);
    expect(names).not.toContain(claim!.metadata.name);
    expect((await client.list(PODS)).items.map(({ status }) => status?.phase)).toEqual(['Running']);
    await end();
  });

  it('has all that the limits of its pools allow, whatever the former term had decided on and not written', async () => {
    const { clock, client, trouble, lead, endTerm, end } = await setUp('250');
    let writes = 0;
    trouble.fault = (verb, kind) => {
      if (verb === 'create' && kind === 'nodeclaims' && ++writes === 45) endTerm();
      return undefined;
    };
    await client.create(DEPLOYMENTS, web(100));
    await clock.advance(20_000);
    const written = (await client.list(NODE_CLAIMS)).items.length;
    expect(written).toBeGreaterThan(0);
    expect(written).toBeLessThan(100);
    trouble.fault = () => undefined;
    lead();
    await clock.advance(5 * MINUTE);
    expect((await client.list(NODE_CLAIMS)).items).toHaveLength(100);
    await end();
  });

  describe('and again', () => {
    const informers = new Set<Informer<never>>();

    beforeEach(() => {
      informers.clear();
      const { addHandler } = Informer.prototype;
      vi.spyOn(Informer.prototype, 'addHandler').mockImplementation(function (this: Informer<never>, handler) {
        informers.add(this);
        return addHandler.call(this, handler);
      });
    });

    afterEach(() => {
      vi.restoreAllMocks();
    });

    it('leaves nobody behind who listens', async () => {
      const { clock, client, lead, loseLeadership, end } = await setUp('100');
      await client.create(DEPLOYMENTS, web(2));
      const counts: number[] = [];
      for (let term = 0; term < 3; term++) {
        await clock.advance(MINUTE);
        await loseLeadership();
        counts.push([...informers].reduce((sum, { handlers }) => sum + handlers, 0));
        lead();
      }
      expect(counts[0]).toBeGreaterThan(0);
      expect(new Set(counts).size).toBe(1);
      await end();
    });
  });
});
