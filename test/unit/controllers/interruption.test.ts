/** Machines that their cloud takes away, in virtual time, on the embedded cluster and the simulated cloud. */
import { describe, expect, it } from 'vitest';
import { NODE_CLAIMS } from '../../../src/apis/karpenter/node-claim.ts';
import { NODE_POOLS } from '../../../src/apis/karpenter/node-pool.ts';
import { PODS, type Pod, type PodSpec } from '../../../src/apis/kubernetes/pod.ts';
import { POD_DISRUPTION_BUDGETS } from '../../../src/apis/kubernetes/pod-disruption-budget.ts';
import { DEPLOYMENTS } from '../../../src/apis/kubernetes/workloads.ts';
import { aDeployment, aTemplate } from '../../../src/embedded/testkit/workloads.ts';
import { Chronicle, isHealthy } from './testkit/chronicle.ts';
import { FleetWorld, type FleetWorldOptions } from './testkit/fleet-world.ts';

const MINUTE = 60_000;

async function start(options: FleetWorldOptions = {}): Promise<{ world: FleetWorld; chronicle: Chronicle }> {
  const chronicle = new Chronicle();
  const world = await FleetWorld.start({ through: chronicle.through, ...options });
  const nodeClassRef = { group: 'spindrift.dev', kind: 'SimulatedNodeClass', name: 'default' };
  const template = { spec: { requirements: [], nodeClassRef } };
  const pool = { apiVersion: 'karpenter.sh/v1', kind: 'NodePool', metadata: { name: 'default' }, spec: { template } };
  await world.client.create(NODE_POOLS, pool as never);
  await world.clock.advance(1000);
  return { world, chronicle };
}

interface App {
  readonly replicas?: number;
  readonly cpu?: string;
  readonly grace?: number;
  readonly annotations?: Record<string, string>;
  readonly spec?: Partial<PodSpec>;
  /** A budget that lets so many of them be away. */
  readonly maxUnavailable?: number;
}

/** An app whose pods take a while to start and to stop, running. */
async function run(world: FleetWorld, name: string, app: App = {}): Promise<void> {
  const { replicas = 1, cpu = '900m', grace = 30, maxUnavailable, annotations, spec } = app;
  const template = aTemplate(
    name,
    'app:1',
    {
      containers: [{ name: 'main', image: 'app:1', resources: { requests: { cpu } } }],
      terminationGracePeriodSeconds: grace,
      ...spec,
    },
    { 'spindrift.dev/ready-after': '2s', 'spindrift.dev/stop-after': '5s', ...annotations },
  );
  await world.client.create(DEPLOYMENTS, aDeployment(name, { replicas, template }));
  if (maxUnavailable !== undefined)
    await world.client.create(POD_DISRUPTION_BUDGETS, {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name, namespace: 'default' },
      spec: { maxUnavailable, selector: { matchLabels: { app: name } } },
    });
  await world.clock.advance(MINUTE);
  expect((await podsOf(world, name)).filter(isHealthy)).toHaveLength(replicas);
}

async function podsOf(world: FleetWorld, app: string): Promise<readonly Pod[]> {
  return (await world.client.list(PODS, { labelSelector: `app=${app}` })).items;
}

/** The first claim, which the tests take away. */
async function firstClaim(world: FleetWorld) {
  const [claim] = (await world.client.list(NODE_CLAIMS)).items;
  return { name: claim!.metadata.name!, providerID: claim!.status!.providerID!, node: claim!.status!.nodeName! };
}

describe('an interrupted node', () => {
  it('is replaced before its first pod is asked to leave, and is gone before its deadline', async () => {
    const { world, chronicle } = await start();
    await run(world, 'web', { replicas: 2 });
    const { name, providerID, node } = await firstClaim(world);
    chronicle.clear();
    const at = world.clock.now();
    world.cloud.interrupt(providerID, 120_000);
    await world.clock.advance(1000);
    expect((await world.node(node))?.spec?.taints).toContainEqual({
      key: 'karpenter.sh/disrupted',
      effect: 'NoSchedule',
    });
    expect(await world.events(node)).toHaveProperty('SpotInterrupted');
    await world.clock.advance(100_000);
    expect(chronicle.entries.map(({ what }) => what)).toEqual(['claim', 'claim deleted', 'evicted', 'evicted']);
    const [replacement, drained] = chronicle.entries;
    expect(replacement!.at - at).toBeLessThan(2000);
    // It waits until the replacement is up.
    expect(drained!.at - at).toBeGreaterThan(20_000);
    expect(drained!.at - at).toBeLessThan(30_000);
    expect(await world.claim(name)).toBeUndefined();
    expect((await podsOf(world, 'web')).filter(isHealthy)).toHaveLength(2);
    expect(world.instances).toBe(1);
    expect(await world.events(name)).toHaveProperty('TerminatingOnInterruption');
    await world.end();
  });
});
