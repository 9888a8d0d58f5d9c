/** Whatever fails and whenever the process is killed in the middle of a disruption: it is finished or undone, and no promise is broken. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isTrue } from '../../../src/apis/karpenter/conditions.ts';
import { NODE_CLAIMS, type NodeClaim } from '../../../src/apis/karpenter/node-claim.ts';
import { NODE_POOLS } from '../../../src/apis/karpenter/node-pool.ts';
import { NODES } from '../../../src/apis/kubernetes/node.ts';
import { PODS, type Pod } from '../../../src/apis/kubernetes/pod.ts';
import { POD_DISRUPTION_BUDGETS } from '../../../src/apis/kubernetes/pod-disruption-budget.ts';
import { DEPLOYMENTS } from '../../../src/apis/kubernetes/workloads.ts';
import { ANNOTATION_DISRUPTION } from '../../../src/apis/spindrift/annotations.ts';
import { NO_FAULTS } from '../../../src/cloud/simulated/account-settings.ts';
import { aType } from '../../../src/cloud/simulated/testkit/small-account.ts';
import { readMark } from '../../../src/controllers/disruption/commands/mark.ts';
import type { FaultyClient } from '../../../src/kube/testkit/faulty-client.ts';
import { hasCode } from '../../../src/platform/errors.ts';
import { seededRandom } from '../../../src/platform/random.ts';
import { aPodBudget, aPool, aWorkload } from './testkit/fleet-objects.ts';
import { FleetWorld } from './testkit/fleet-world.ts';
import { troubledClient } from './testkit/troubled-client.ts';

const MINUTE = 60_000;
const POOLS = ['one', 'two'];
const REPLICAS = 3;
const BUDGET = 2;

/** One thing that happens, after a while. */
const step = fc.record({
  afterMs: fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 30_000 })),
  what: fc.constantFrom('drift', 'drift', 'kill', 'kill', 'kill', 'cut-watches', 'delete-claim', 'scale', 'interrupt'),
  which: fc.nat(100),
});

const story = fc.record({
  seed: fc.string(),
  steps: fc.array(step, { minLength: 5, maxLength: 20, size: 'max' }),
  apiTrouble: fc.constantFrom(0, 0.05, 0.2),
  launchTrouble: fc.constantFrom(0, 0.3),
});

/** Hears everything that happens in the cluster, and writes down which promises are broken. */
class Witness {
  readonly broken: string[] = [];
  /** Claims that the story itself takes away. */
  readonly takenAway = new Set<string>();
  /** Whether machines were taken away: they go at their time, whatever is promised to pods. */
  interrupted = false;
  readonly #claims = new Map<string, NodeClaim>();
  readonly #initialized = new Set<string>();
  readonly #ready = new Map<string, Set<string>>(POOLS.map((pool) => [pool, new Set()]));
  readonly #complete = new Set<string>();
  readonly #stop = new AbortController();
  readonly #watching: Promise<unknown>;

  constructor(world: FleetWorld) {
    this.#watching = Promise.all([this.#watchClaims(world), this.#watchPods(world)]);
  }

  async end(): Promise<void> {
    this.#stop.abort();
    await this.#watching;
  }

  async #watchClaims({ client }: FleetWorld): Promise<void> {
    for await (const event of client.watch(NODE_CLAIMS, {}, { signal: this.#stop.signal })) {
      if (event.type === 'BOOKMARK') continue;
      const claim = event.object;
      const name = claim.metadata.name ?? '';
      const before = this.#claims.get(name);
      if (event.type === 'DELETED') this.#claims.delete(name);
      else this.#claims.set(name, claim);
      if (isTrue(claim, 'Initialized')) this.#initialized.add(name);
      const goes = claim.metadata.deletionTimestamp !== undefined && before?.metadata.deletionTimestamp === undefined;
      const mark = readMark(claim.metadata.annotations?.[ANNOTATION_DISRUPTION]);
      if (goes && mark !== undefined && !this.takenAway.has(name))
        for (const need of mark.needs)
          if (!this.#initialized.has(need.name)) this.broken.push(`${name} went before ${need.name} was up`);
      for (const pool of POOLS) {
        const going = [...this.#claims.values()].filter(
          ({ metadata, status }) =>
            metadata.labels?.['karpenter.sh/nodepool'] === pool &&
            metadata.annotations?.[ANNOTATION_DISRUPTION] !== undefined &&
            !isTrue({ metadata, ...(status && { status }) }, 'InstanceTerminating'),
        );
        if (going.length > BUDGET) this.broken.push(`${going.length} nodes of ${pool} go at once`);
      }
    }
  }

  async #watchPods({ client }: FleetWorld): Promise<void> {
    for await (const event of client.watch(PODS, {}, { signal: this.#stop.signal })) {
      if (event.type === 'BOOKMARK') continue;
      const { metadata } = event.object;
      const app = metadata.labels?.app ?? '';
      const ready = this.#ready.get(app);
      if (ready === undefined) continue;
      if (event.type !== 'DELETED' && isReady(event.object)) ready.add(metadata.uid ?? '');
      else ready.delete(metadata.uid ?? '');
      if (ready.size >= REPLICAS) this.#complete.add(app);
      if (this.#complete.has(app) && !this.interrupted && ready.size < REPLICAS - 1)
        this.broken.push(`only ${ready.size} pods of ${app} are ready`);
    }
  }
}

function isReady({ metadata, status }: Pod): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  return status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false;
}

describe('disruptions', () => {
  it('are finished or undone wherever the process is killed, and break no budget and no promise to pods', async () => {
    await fc.assert(
      fc.asyncProperty(story, async ({ seed, steps, apiTrouble, launchTrouble }) => {
        const random = seededRandom(seed).split('trouble');
        const clients: FaultyClient[] = [];
        let trouble = 0;
        const account = { catalogue: [aType('small', 2)] };
        const world = await FleetWorld.start({
          seed,
          account,
          slowHeartbeats: true,
          through: (client, clock) => {
            const faulty = troubledClient(client, clock, random, () => trouble);
            clients.push(faulty);
            return faulty;
          },
        });
        for (const pool of POOLS) {
          const consolidateAfter = pool === 'one' ? 'Never' : '30s';
          const disruption = { budgets: [{ nodes: `${BUDGET}` }], consolidateAfter };
          await world.client.create(NODE_POOLS, aPool(pool, { disruption }));
          await world.client.create(POD_DISRUPTION_BUDGETS, aPodBudget(pool, { maxUnavailable: 1 }));
          await world.client.create(DEPLOYMENTS, aWorkload(pool, REPLICAS, '1500m', { pool }));
        }
        await world.client.create(DEPLOYMENTS, aWorkload('other', 1, '300m'));
        await world.clock.advance(3 * MINUTE);
        const witness = new Witness(world);
        trouble = apiTrouble;
        const { settings } = world.cloud.account('default')!;
        const faults = { ...NO_FAULTS, latencyMs: 300, launchFailureRate: launchTrouble };
        world.cloud.configure('default', { ...settings, faults });
        for (const [number, { afterMs, what, which }] of steps.entries()) {
          await world.clock.advance(afterMs);
          const pool = POOLS[which % POOLS.length]!;
          if (what === 'drift') {
            const body = { spec: { template: { metadata: { labels: { wave: `wave-${number}` } } } } };
            await world.client.patch(NODE_POOLS, { name: pool }, { type: 'merge', body });
          } else if (what === 'scale') {
            const body = { spec: { replicas: which % 6 } };
            await world.client.patch(DEPLOYMENTS, { name: 'other', namespace: 'default' }, { type: 'merge', body });
          } else if (what === 'delete-claim' || what === 'interrupt') {
            const { items } = await world.client.list(NODE_CLAIMS);
            const { metadata = {}, status } = items[which % Math.max(1, items.length)] ?? {};
            const { name = '' } = metadata;
            witness.takenAway.add(name);
            witness.interrupted ||= what === 'interrupt';
            if (what === 'interrupt') world.cloud.interrupt(status?.providerID ?? '');
            else
              await world.client.delete(NODE_CLAIMS, { name }).catch((error) => {
                if (!hasCode(error, 'KUBE_NOT_FOUND')) throw error;
              });
          } else if (what === 'cut-watches') clients.at(-1)?.cutWatches('broken');
          else {
            await world.killControllers();
            world.startControllers();
          }
        }
        // The trouble is over: all must come to its end.
        trouble = 0;
        world.cloud.configure('default', settings);
        await world.clock.advance(30 * MINUTE);
        await witness.end();
        expect(witness.broken).toEqual([]);
        const claims = (await world.client.list(NODE_CLAIMS)).items;
        const nodes = (await world.client.list(NODES)).items;
        const ids = claims.map(({ status }) => status?.providerID).sort();
        expect([...world.cloud.fleet.list()].map(({ providerID }) => providerID).sort()).toEqual(ids);
        expect(nodes.map(({ spec }) => spec?.providerID).sort()).toEqual(ids);
        for (const instances of world.launched.values()) expect(instances.size).toBe(1);
        for (const { metadata, status } of claims) {
          expect(metadata.annotations?.[ANNOTATION_DISRUPTION]).toBeUndefined();
          const types = status?.conditions?.flatMap(({ type, status: is }) => (is === 'True' ? [type] : []));
          expect(types).not.toContain('Drifted');
          expect(types).not.toContain('DisruptionReason');
        }
        expect(nodes.flatMap(({ spec }) => spec?.taints ?? [])).toEqual([]);
        const pods = (await world.client.list(PODS)).items;
        expect(pods.filter((pod) => !isReady(pod))).toEqual([]);
        await world.end();
      }),
      { numRuns: 10 },
    );
  });
});
