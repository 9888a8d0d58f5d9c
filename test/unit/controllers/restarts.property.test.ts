/** Whatever fails and whenever the process is killed: machines and claims find each other again, and nothing is left behind. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NODE_CLAIMS } from '../../../src/apis/karpenter/node-claim.ts';
import { NODES } from '../../../src/apis/kubernetes/node.ts';
import { NO_FAULTS } from '../../../src/cloud/simulated/account-settings.ts';
import type { FaultyClient } from '../../../src/kube/testkit/faulty-client.ts';
import { hasCode } from '../../../src/platform/errors.ts';
import { seededRandom } from '../../../src/platform/random.ts';
import { aClaim, FleetWorld } from './testkit/fleet-world.ts';
import { troubledClient } from './testkit/troubled-client.ts';

const MINUTE = 60_000;

/** One thing that happens, after a while. */
interface Step {
  readonly afterMs: number;
  readonly what: 'create' | 'delete-claim' | 'delete-node' | 'preempt' | 'kill' | 'cut-watches';
  readonly which: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  afterMs: fc.oneof(fc.integer({ min: 0, max: 50 }), fc.integer({ min: 0, max: 40_000 })),
  what: fc.constantFrom(
    'create',
    'create',
    'create',
    'delete-claim',
    'delete-node',
    'preempt',
    'kill',
    'kill',
    'cut-watches',
  ),
  which: fc.nat(100),
});

const story = fc.record({
  seed: fc.string(),
  steps: fc.array(step, { minLength: 5, maxLength: 40, size: 'max' }),
  apiTrouble: fc.constantFrom(0, 0.05, 0.3),
  cloudTrouble: fc.constantFrom(0, 0.1, 0.4),
  consistencyDelayMs: fc.constantFrom(0, 5000),
});

async function ignoringAbsence(work: Promise<unknown>): Promise<void> {
  await work.catch((error) => {
    if (!hasCode(error, 'KUBE_NOT_FOUND')) throw error;
  });
}

describe('the controllers of machines', () => {
  it('leak no instance and launch none twice, wherever they are killed and whatever fails', async () => {
    await fc.assert(
      fc.asyncProperty(story, async ({ seed, steps, apiTrouble, cloudTrouble, consistencyDelayMs }) => {
        const random = seededRandom(seed).split('trouble');
        const clients: FaultyClient[] = [];
        let trouble = apiTrouble;
        const world = await FleetWorld.start({
          seed,
          account: {
            faults: {
              ...NO_FAULTS,
              consistencyDelayMs,
              latencyMs: 300,
              errorRate: cloudTrouble,
              hangRate: cloudTrouble / 2,
            },
          },
          through: (client, clock) => {
            const faulty = troubledClient(client, clock, random, () => trouble);
            clients.push(faulty);
            return faulty;
          },
        });
        let made = 0;
        for (const { afterMs, what, which } of steps) {
          await world.clock.advance(afterMs);
          const name = `claim-${made === 0 ? 0 : which % made}`;
          if (what === 'create') await world.client.create(NODE_CLAIMS, aClaim(`claim-${made++}`));
          else if (what === 'delete-claim') await ignoringAbsence(world.client.delete(NODE_CLAIMS, { name }));
          else if (what === 'delete-node') await ignoringAbsence(world.client.delete(NODES, { name }));
          else if (what === 'cut-watches') clients.at(-1)?.cutWatches('broken');
          else if (what === 'kill') {
            await world.killControllers();
            world.startControllers();
          } else {
            const instances = [...world.cloud.fleet.list()];
            const instance = instances[which % Math.max(1, instances.length)];
            if (instance !== undefined) world.cloud.interrupt(instance.providerID, 0);
          }
        }
        // The trouble is over: what is there must be whole, and what was wanted gone must be gone.
        trouble = 0;
        world.cloud.configure('default', { ...world.cloud.account('default')!.settings, faults: NO_FAULTS });
        await world.clock.advance(20 * MINUTE);
        const claims = (await world.client.list(NODE_CLAIMS)).items;
        const nodes = (await world.client.list(NODES)).items;
        const ids = claims.map(({ status }) => status?.providerID).sort();
        expect([...world.cloud.fleet.list()].map(({ providerID }) => providerID).sort()).toEqual(ids);
        expect(nodes.map(({ spec }) => spec?.providerID).sort()).toEqual(ids);
        for (const { status } of claims)
          expect(status?.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({ status: 'True' });
        for (const instances of world.launched.values()) expect(instances.size).toBe(1);
        // And back to nothing.
        for (const { metadata } of claims) await world.client.delete(NODE_CLAIMS, { name: metadata.name! });
        await world.clock.advance(5 * MINUTE);
        expect(world.instances).toBe(0);
        expect((await world.client.list(NODE_CLAIMS)).items).toEqual([]);
        expect((await world.client.list(NODES)).items).toEqual([]);
        await world.end();
      }),
      { numRuns: 15 },
    );
  });
});
