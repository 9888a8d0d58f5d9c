/** A third of the spot machines goes at once, under disruption budgets, and the process is killed whenever it hurts most. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LABEL_CAPACITY_TYPE } from '../../../src/apis/karpenter/labels.ts';
import { NODE_CLAIMS, type NodeClaim } from '../../../src/apis/karpenter/node-claim.ts';
import { NODE_POOLS } from '../../../src/apis/karpenter/node-pool.ts';
import { NODES } from '../../../src/apis/kubernetes/node.ts';
import { PODS } from '../../../src/apis/kubernetes/pod.ts';
import { POD_DISRUPTION_BUDGETS } from '../../../src/apis/kubernetes/pod-disruption-budget.ts';
import { DEPLOYMENTS } from '../../../src/apis/kubernetes/workloads.ts';
import { NO_FAULTS } from '../../../src/cloud/simulated/account-settings.ts';
import { aDeployment, aTemplate } from '../../../src/embedded/testkit/workloads.ts';
import { type Fault, FaultyClient } from '../../../src/kube/testkit/faulty-client.ts';
import { seededRandom } from '../../../src/platform/random.ts';
import { Chronicle, isHealthy } from './testkit/chronicle.ts';
import { FleetWorld } from './testkit/fleet-world.ts';

const MINUTE = 60_000;
const APPS = ['a', 'b', 'c', 'd'];
const REPLICAS = 6;
const GRACE = 20;

const story = fc.record({
  seed: fc.string(),
  noticeMs: fc.constantFrom(30_000, 120_000),
  /** When the process is killed, after the notices. */
  kills: fc.array(fc.oneof(fc.integer({ min: 0, max: 3000 }), fc.integer({ min: 0, max: 130_000 })), { maxLength: 4 }),
  apiTrouble: fc.constantFrom(0, 0, 0.05),
  repeats: fc.nat(3),
});

async function aFleet(seed: string, apiTrouble: number): Promise<{ world: FleetWorld; chronicle: Chronicle }> {
  const chronicle = new Chronicle();
  const random = seededRandom(seed).split('trouble');
  const world = await FleetWorld.start({
    seed,
    account: { faults: { ...NO_FAULTS, latencyMs: 200 } },
    controllers: { consolidation: { cooldownMs: 60 * MINUTE } },
    through: (client, clock) => {
      const fault = (verb: string): Fault | undefined => {
        // Something of each call takes time, so that a kill can come in between.
        if (verb === 'watch') return undefined;
        if (random.next() >= apiTrouble) return { kind: 'late', byMs: random.below(20) };
        return random.pick([{ kind: 'lost' }, { kind: 'unanswered' }, { kind: 'late', byMs: 2000 }]);
      };
      return new FaultyClient({ client: chronicle.through(client, clock), clock, fault });
    },
  });
  const nodeClassRef = { group: 'spindrift.dev', kind: 'SimulatedNodeClass', name: 'default' };
  await world.client.create(NODE_POOLS, {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name: 'default' },
    spec: { template: { spec: { requirements: [], nodeClassRef } }, disruption: { consolidateAfter: 'Never' } },
  } as never);
  for (const [index, app] of APPS.entries()) {
    const cpu = `${600 + 300 * index}m`;
    const containers = [{ name: 'main', image: 'app:1', resources: { requests: { cpu } } }];
    const script = { 'spindrift.dev/ready-after': '3s', 'spindrift.dev/stop-after': `${2 + 4 * index}s` };
    const template = aTemplate(app, 'app:1', { containers, terminationGracePeriodSeconds: GRACE }, script);
    await world.client.create(DEPLOYMENTS, aDeployment(app, { replicas: REPLICAS, template }));
    await world.client.create(POD_DISRUPTION_BUDGETS, {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: app, namespace: 'default' },
      spec: { maxUnavailable: 2, selector: { matchLabels: { app } } },
    });
  }
  await world.clock.advance(2 * MINUTE);
  return { world, chronicle };
}

/** Nearly a third of the spot claims, chosen by the seed. */
async function someSpotClaims(world: FleetWorld, seed: string): Promise<readonly NodeClaim[]> {
  const spot = (await world.client.list(NODE_CLAIMS)).items.filter(
    ({ metadata }) => metadata.labels?.[LABEL_CAPACITY_TYPE] === 'spot',
  );
  return seededRandom(seed)
    .shuffle(spot)
    .slice(0, Math.ceil(spot.length * 0.3));
}

describe('a third of the spot nodes taken back at once', () => {
  it.each([120_000, 30_000])(
    'has every pod leave within %s ms that its budget lets go, and the others told',
    async (noticeMs) => {
      const { world, chronicle } = await aFleet('burst', 0);
      const taken = await someSpotClaims(world, 'burst');
      expect(taken.length).toBeGreaterThan(1);
      const nodes = new Set(taken.map(({ status }) => status?.nodeName ?? ''));
      const pods = (await world.client.list(PODS)).items.filter(({ spec }) => nodes.has(spec.nodeName ?? ''));
      chronicle.clear();
      const deadline = world.clock.now() + noticeMs;
      for (const { status } of taken) world.cloud.interrupt(status!.providerID!, noticeMs);
      await world.clock.advance(noticeMs - 1000);
      expect(chronicle.broken).toEqual([]);
      expect(chronicle.entries[0]!.what).toBe('claim');
      const left = new Set((await world.client.list(PODS)).items.map(({ metadata }) => metadata.uid));
      const stay = pods.filter(({ metadata }) => left.has(metadata.uid));
      for (const { at, grace = GRACE } of chronicle.of('evicted'))
        expect(at + grace * 1000).toBeLessThanOrEqual(deadline);
      for (const { metadata } of stay) expect(await world.events(metadata.name!)).toHaveProperty('CannotLeaveInTime');
      expect(stay.length < pods.length).toBe(true);
      if (noticeMs === 120_000) expect(stay).toEqual([]);
      await world.end();
    },
  );

  it('breaks no budget, leaks nothing and launches nothing twice, wherever the process is killed', async () => {
    await fc.assert(
      fc.asyncProperty(story, async ({ seed, noticeMs, kills, apiTrouble, repeats }) => {
        const { world, chronicle } = await aFleet(seed, apiTrouble);
        const taken = await someSpotClaims(world, seed);
        const doomed = new Set(taken.map(({ status }) => status?.nodeName ?? ''));
        chronicle.clear();
        const startedAt = world.clock.now();
        for (const { status } of taken)
          for (let time = 0; time <= repeats; time++) world.cloud.interrupt(status!.providerID!, noticeMs);
        const moments = [...kills].sort((a, b) => a - b);
        for (const moment of moments) {
          await world.clock.advance(Math.max(0, startedAt + moment - world.clock.now()));
          await world.killControllers();
          await world.clock.advance(500);
          world.startControllers();
        }
        await world.clock.advance(5 * MINUTE);

        expect(chronicle.broken).toEqual([]);
        // Only pods whose machine is gone are deleted without asking.
        for (const { at } of chronicle.of('pod deleted'))
          expect(at).toBeGreaterThanOrEqual(startedAt + noticeMs - 1000);
        // While the machines are there, nobody is asked to leave before there is, or will be, another place.
        const asked = chronicle.of('evicted').filter(({ node }) => doomed.has(node ?? ''));
        const [first] = asked.filter(({ at }) => at < startedAt + noticeMs - 1000);
        const [replacement] = chronicle.of('claim');
        if (first !== undefined && replacement !== undefined) expect(first.at).toBeGreaterThanOrEqual(replacement.at);
        // Everything is as it was, on other machines.
        for (const app of APPS) {
          const pods = (await world.client.list(PODS, { labelSelector: `app=${app}` })).items;
          expect(pods.filter(isHealthy)).toHaveLength(REPLICAS);
          expect(pods).toHaveLength(REPLICAS);
        }
        const claims = (await world.client.list(NODE_CLAIMS)).items;
        for (const { metadata } of taken)
          expect(claims.map(({ metadata: { uid } }) => uid)).not.toContain(metadata.uid);
        const ids = claims.map(({ status }) => status?.providerID).sort();
        expect([...world.cloud.fleet.list()].map(({ providerID }) => providerID).sort()).toEqual(ids);
        expect((await world.client.list(NODES)).items.map(({ spec }) => spec?.providerID).sort()).toEqual(ids);
        for (const instances of world.launched.values()) expect(instances.size).toBe(1);
        // No machine is there for nothing. A process that is killed forgets which pod was to come to which node, and may buy one
        // more for it: consolidation takes that away.
        const used = new Set((await world.client.list(PODS)).items.map(({ spec }) => spec.nodeName));
        const unused = claims.filter(({ status }) => !used.has(status?.nodeName));
        if (apiTrouble === 0) expect(unused.length).toBeLessThanOrEqual(kills.length);
        await world.end();
      }),
      { numRuns: 8 },
    );
  });
});
