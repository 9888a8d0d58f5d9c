/** Empty nodes and when they go, in virtual time. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { NODE_POOLS } from '../../../src/apis/karpenter/node-pool.ts';
import { PODS } from '../../../src/apis/kubernetes/pod.ts';
import { DEPLOYMENTS } from '../../../src/apis/kubernetes/workloads.ts';
import { Consolidation } from '../../../src/controllers/disruption/consolidation/consolidation.ts';
import { aPod } from '../../../src/embedded/testkit/objects.ts';
import { type Fault, FaultyClient } from '../../../src/kube/testkit/faulty-client.ts';
import { ANY_NUMBER, annotate, MINUTE, withFleet } from './testkit/equal-fleet.ts';
import { claimNames, goingClaims, runningPods } from './testkit/fleet-facts.ts';
import { aPool } from './testkit/fleet-objects.ts';
import type { FleetWorld } from './testkit/fleet-world.ts';

async function scale(world: FleetWorld, replicas: number): Promise<void> {
  const key = { name: 'web', namespace: 'default' };
  await world.client.patch(DEPLOYMENTS, key, { type: 'merge', body: { spec: { replicas } } });
}

describe('an empty node', () => {
  it('goes once consolidateAfter is over since its last pod left', async () => {
    const disruption = { ...ANY_NUMBER, consolidateAfter: '5m', consolidationPolicy: 'WhenEmpty' } as const;
    const world = await withFleet(3, aPool('general', { disruption }));
    await scale(world, 1);
    await world.clock.advance(4 * MINUTE);
    expect(await claimNames(world)).toHaveLength(3);
    await world.clock.advance(3 * MINUTE);
    expect(await claimNames(world)).toHaveLength(1);
    expect(world.instances).toBe(1);
    expect(await runningPods(world)).toBe(1);
    const disrupted = { reason: 'empty', nodepool: 'general', capacity_type: 'spot', termination_mode: 'graceful' };
    const labels = { ...disrupted, consolidation_policy: 'when_empty' };
    expect(await world.metrics.read('karpenter_nodeclaims_disrupted_total', labels)).toBe(2);
    await world.end();
  });

  it('goes no sooner where it might have gone long before, had it been empty', async () => {
    const disruption = { ...ANY_NUMBER, consolidateAfter: '5m', consolidationPolicy: 'WhenEmpty' } as const;
    const world = await withFleet(2, aPool('general', { disruption }));
    const [first = ''] = await claimNames(world);
    await world.clock.advance(5 * MINUTE);
    expect(await world.condition(first, 'Consolidatable')).toMatchObject({ status: 'True' });
    await scale(world, 0);
    await world.clock.advance(4.5 * MINUTE);
    expect(await claimNames(world)).toHaveLength(2);
    await world.clock.advance(2 * MINUTE);
    expect(await claimNames(world)).toEqual([]);
    await world.end();
  });

  it('goes no sooner where nothing is heard of what was written on its claim', async () => {
    const disruption = { ...ANY_NUMBER, consolidateAfter: '5m', consolidationPolicy: 'WhenEmpty' } as const;
    const clients: FaultyClient[] = [];
    let silent = false;
    const fault = (verb: string, kind: string): Fault | undefined =>
      silent && verb === 'watch' && kind === 'nodeclaims' ? { kind: 'lost' } : undefined;
    const world = await withFleet(2, aPool('general', { disruption }), {
      through: (client, clock) => {
        clients.push(new FaultyClient({ client, clock, fault }));
        return clients[0]!;
      },
    });
    await world.clock.advance(5 * MINUTE);
    silent = true;
    clients[0]!.cutWatches('broken');
    await scale(world, 0);
    await world.clock.advance(MINUTE);
    silent = false;
    await world.clock.advance(3 * MINUTE);
    expect(await goingClaims(world)).toEqual([]);
    expect(await claimNames(world)).toHaveLength(2);
    await world.end();
  });

  it('goes where pods have come back to another one meanwhile, which stays', async () => {
    const disruption = { budgets: [{ nodes: '0' }], consolidateAfter: '0s', consolidationPolicy: 'WhenEmpty' } as const;
    let slow = false;
    const fault = (verb: string, kind: string): Fault | undefined =>
      slow && verb === 'patch' && kind === 'nodes' ? { kind: 'late', byMs: 3000 } : undefined;
    const world = await withFleet(2, aPool('general', { disruption }), {
      through: (client, clock) => new FaultyClient({ client, clock, fault }),
    });
    const [used = '', empty = ''] = await claimNames(world);
    await scale(world, 0);
    await world.clock.advance(MINUTE);
    slow = true;
    await world.client.patch(
      NODE_POOLS,
      { name: 'general' },
      { type: 'merge', body: { spec: { disruption: ANY_NUMBER } } },
    );
    await world.clock.advance(2000);
    expect(await goingClaims(world)).toHaveLength(2);
    await world.client.create(PODS, aPod('late', { spec: { nodeName: used } }));
    await world.clock.advance(MINUTE);
    expect(await claimNames(world)).toEqual([used]);
    expect((await world.events(used)).DisruptionBlocked).toContain('pods have been scheduled to it meanwhile');
    expect(await world.events(empty)).not.toHaveProperty('DisruptionBlocked');
    const decided = { decision: 'delete', reason: 'empty', consolidation_type: 'empty' };
    expect(await world.metrics.read('karpenter_voluntary_disruption_decisions_total', decided)).toBe(2);
    expect(await world.metrics.read('karpenter_voluntary_disruption_queue_failures_total', decided)).toBe(1);
    await world.end();
  });

  it('does not wait for a plan that is made for the whole fleet', async () => {
    // As if it took for ever; it ends only when it is told to.
    const unending = (_: unknown, signal: AbortSignal): Promise<never> =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    const planning = vi.spyOn(Consolidation.prototype, 'plan').mockImplementation(unending);
    onTestFinished(() => planning.mockRestore());
    const world = await withFleet(3, aPool('general', { disruption: { ...ANY_NUMBER, consolidateAfter: '5s' } }));
    await scale(world, 1);
    await world.clock.advance(MINUTE);
    expect(planning).toHaveBeenCalled();
    expect(await claimNames(world)).toHaveLength(1);
  });

  it('stays with consolidateAfter Never, when it is protected, and beyond the budget', async () => {
    const budgets = [{ nodes: '1', reasons: ['Empty' as const] }];
    const disruption = { budgets, consolidateAfter: '0s', consolidationPolicy: 'WhenEmpty' } as const;
    const world = await withFleet(3, aPool('general', { disruption }));
    const [protectedNode = ''] = await claimNames(world);
    await annotate(world, protectedNode, { 'karpenter.sh/do-not-disrupt': 'true' });
    const patch = (spec: object) =>
      world.client.patch(NODE_POOLS, { name: 'general' }, { type: 'merge', body: { spec } });
    await patch({ disruption: { consolidateAfter: 'Never' } });
    await scale(world, 0);
    await world.clock.advance(2 * MINUTE);
    expect(await claimNames(world)).toHaveLength(3);
    await patch({ disruption: { consolidateAfter: '0s' } });
    await world.clock.runUntil(() => world.instances < 3, MINUTE);
    expect(await goingClaims(world)).toHaveLength(1);
    await world.clock.advance(2 * MINUTE);
    expect(await claimNames(world)).toEqual([protectedNode]);
    expect((await world.events(protectedNode)).DisruptionBlocked).toContain('karpenter.sh/do-not-disrupt');
    await world.end();
  });
});
