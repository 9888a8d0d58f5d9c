/** Load that comes and goes, and spot machines that are taken, under a policy: what it asks for holds again, and nothing flaps. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NODE_CLAIMS, type NodeClaim } from '../../../src/apis/karpenter/node-claim.ts';
import { NODE_POOLS } from '../../../src/apis/karpenter/node-pool.ts';
import { PODS } from '../../../src/apis/kubernetes/pod.ts';
import { DEPLOYMENTS } from '../../../src/apis/kubernetes/workloads.ts';
import { SPOT_POLICIES, type SpotPolicy } from '../../../src/apis/spindrift/spot-policy.ts';
import { aType } from '../../../src/cloud/simulated/testkit/small-account.ts';
import { onDemandWanted } from '../../../src/engine/spot/spot-limits.ts';
import { aPool, aWorkload } from './testkit/fleet-objects.ts';
import { FleetWorld } from './testkit/fleet-world.ts';

const MINUTE = 60_000;

type Step = { readonly scale: number } | { readonly interrupt: number } | { readonly minutes: number };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({ scale: fc.constantFrom(14, 15, 16, 20) }),
    fc.record({ interrupt: fc.nat({ max: 8 }) }),
    fc.record({ minutes: fc.integer({ min: 1, max: 8 }) }),
  ),
  { minLength: 2, maxLength: 5, size: 'max' },
);
const policies = fc.record({ base: fc.nat({ max: 3 }), percent: fc.constantFrom(0, 25, 60) });

async function claims(world: FleetWorld): Promise<readonly NodeClaim[]> {
  return (await world.client.list(NODE_CLAIMS)).items;
}

const capacityOf = ({ metadata }: NodeClaim): string | undefined => metadata.labels?.['karpenter.sh/capacity-type'];
const namesOf = (list: readonly NodeClaim[]): string[] => list.map(({ metadata }) => metadata.name ?? '').sort();

async function follow(world: FleetWorld, step: Step): Promise<void> {
  if ('scale' in step) {
    const body = { spec: { replicas: step.scale } };
    await world.client.patch(DEPLOYMENTS, { namespace: 'default', name: 'web' }, { type: 'merge', body });
  } else if ('interrupt' in step) {
    const spot = (await claims(world)).filter((claim) => capacityOf(claim) === 'spot');
    const taken = spot[step.interrupt % Math.max(1, spot.length)];
    world.cloud.interrupt(taken?.status?.providerID ?? '', 30_000);
  }
  await world.clock.advance('minutes' in step ? step.minutes * MINUTE : 20_000);
}

describe('a fleet under a policy, whatever happened to it', () => {
  it('runs all pods, has the on-demand nodes that are asked for, and is left in peace', async () => {
    await fc.assert(
      fc.asyncProperty(policies, steps, fc.integer({ min: 1, max: 8 }), async (onDemand, story, left) => {
        // Nodes of two pods: many of them, which can be merged.
        const world = await FleetWorld.start({ account: { catalogue: [aType('small', 2)] } });
        const policy = {
          apiVersion: 'spindrift.dev/v1alpha1',
          kind: 'SpotPolicy',
          metadata: { name: 'p' },
          spec: { onDemand },
        };
        await world.client.create(SPOT_POLICIES, policy as unknown as SpotPolicy);
        const disruption = { consolidateAfter: '0s', budgets: [{ nodes: '100%' }] };
        await world.client.create(NODE_POOLS, aPool('general', { disruption }));
        await world.client.create(DEPLOYMENTS, aWorkload('web', 14, '800m'));
        await world.clock.advance(MINUTE);
        // The load falls only in the end, so that nodes can be merged: while it goes up and down, pods take nodes that are still there.
        for (const step of [...story, { scale: left }]) await follow(world, step);
        await world.clock.advance(45 * MINUTE);

        const { items: pods } = await world.client.list(PODS);
        expect(pods.filter(({ status }) => status?.phase !== 'Running')).toEqual([]);
        const there = await claims(world);
        const used = new Set(pods.map(({ spec }) => spec.nodeName));
        const inUse = there.filter(({ status }) => used.has(status?.nodeName ?? ''));
        const limits = { onDemandBase: onDemand.base, onDemandPercent: onDemand.percent, maxPercentPerSpotPool: 100 };
        expect(there.filter((claim) => capacityOf(claim) !== 'spot').length).toBeGreaterThanOrEqual(
          onDemandWanted(limits, inUse.length),
        );
        await world.clock.advance(30 * MINUTE);
        expect(namesOf(await claims(world))).toEqual(namesOf(there));
        await world.end();
      }),
      { numRuns: 6, endOnFailure: true },
    );
  }, 300_000);
});
