/**
 * Half an hour in which all goes wrong at once, from a seed: nothing may be lost, doubled or left over when it is calm again.
 * `IBM_SEEDS=1,2,3` lives more of them.
 */
import { describe, expect, it } from 'vitest';
import { NODE_CLAIMS } from '../../src/apis/karpenter/node-claim.ts';
import { DEPLOYMENTS } from '../../src/apis/kubernetes/workloads.ts';
import type { ApiCall } from '../../src/cloud/ibm/api/http-service.ts';
import { aDeployment, aTemplate } from '../../src/embedded/testkit/workloads.ts';
import { seededRandom } from '../../src/platform/random.ts';
import { ibmCluster } from './testkit/ibm-cluster.ts';

const MINUTE = 60_000;
const PROFILES = ['bxf-2x8', 'bxf-4x16', 'cxf-4x8', 'cxf-2x4', '*'];
const ZONES = ['us-south-1', 'us-south-2', 'us-south-3'];
const SEEDS = (process.env.IBM_SEEDS ?? '1').split(',');

describe('a rough half hour on IBM Cloud', { timeout: 300_000 }, () => {
  it.each(SEEDS)(
    'seed %s: calls and answers are lost, the API fails and slows us down, capacity goes, machines are preempted, we are killed',
    async (seed) => {
      const random = seededRandom(`rough ${seed}`);
      let rough = true;
      const chance = (share: number): boolean => rough && random.next() < share;
      const lost = (): never => {
        throw new Error('ECONNRESET');
      };
      const wire = {
        before: (_: ApiCall) => (chance(0.03) ? lost() : undefined),
        after: (_: ApiCall) => (chance(0.03) ? lost() : undefined),
      };
      const { clock, client, server, runningPods, restart, end } = await ibmCluster(['spot', 'on-demand'], wire, seed);
      const { world } = server;
      world.faults.leavesLeftovers = true;
      world.faults.requestsPerSecond = 40;
      world.faults.before = () =>
        chance(0.03) ? { status: random.pick([500, 502, 503]), code: 'service_error' } : undefined;
      let most = 0;
      const containers = [{ name: 'main', image: 'app:1', resources: { requests: { cpu: '1500m' } } }];
      const template = aTemplate('web', 'app:1', { containers } as never);
      await client.create(DEPLOYMENTS, aDeployment('web', { replicas: 6, template }));
      for (let minute = 0; minute < 30; minute++) {
        await clock.advance(MINUTE);
        if (random.next() < 0.3)
          world.faults.noCapacity.add(
            `${random.pick(['spot', 'standard'])}:${random.pick(PROFILES)}:${random.pick(ZONES)}`,
          );
        if (random.next() < 0.3) world.faults.noCapacity.clear();
        const spot = [...world.instances.values()].filter(
          (one) => one.availabilityClass === 'spot' && world.statusOf(one).status === 'running',
        );
        if (spot.length > 0 && random.next() < 0.2) world.preempt(random.pick(spot).id);
        if (random.next() < 0.15) {
          const replicas = 2 + random.below(10);
          await client.patch(
            DEPLOYMENTS,
            { namespace: 'default', name: 'web' },
            { type: 'merge', body: { spec: { replicas } } },
          );
        }
        if (random.next() < 0.1) await restart();
        const alive = [...world.instances.values()]
          .filter(({ deletedAt }) => deletedAt === undefined)
          .map(({ name }) => name);
        // Names are unique, so that no claim has two: what is asked here is that the server was never tricked.
        expect(new Set(alive).size).toBe(alive.length);
        most = Math.max(most, alive.length);
      }
      rough = false;
      world.faults.noCapacity.clear();
      await client.patch(
        DEPLOYMENTS,
        { namespace: 'default', name: 'web' },
        { type: 'merge', body: { spec: { replicas: 5 } } },
      );
      await clock.advance(40 * MINUTE);
      expect(await runningPods()).toBe(5);
      const claims = (await client.list(NODE_CLAIMS)).items;
      const machines = [...world.instances.values()].map(({ id }) => `ibm:///us-south/${id}`).sort();
      expect(claims.map(({ status }) => status?.providerID).sort()).toEqual(machines);
      expect(world.count()).toEqual({ instances: claims.length, volumes: claims.length, interfaces: claims.length });
      expect(most).toBeGreaterThan(2);
      await end();
    },
  );
});
