/** Discounts and devices that a cloud does not know of, and what they change. */
import { describe, expect, it } from 'vitest';
import { conditionOf } from '../../../src/apis/karpenter/conditions.ts';
import { LABEL_CAPACITY_TYPE, LABEL_INSTANCE_TYPE } from '../../../src/apis/karpenter/labels.ts';
import { NODE_OVERLAYS, type NodeOverlay, type NodeOverlaySpec } from '../../../src/apis/karpenter/node-overlay.ts';
import { NODE_POOLS } from '../../../src/apis/karpenter/node-pool.ts';
import { PODS } from '../../../src/apis/kubernetes/pod.ts';
import { DEPLOYMENTS } from '../../../src/apis/kubernetes/workloads.ts';
import { aPodAsking } from '../../../src/state/testkit/a-state-node.ts';
import { claimsOf, machinesBy } from './testkit/fleet-facts.ts';
import { aPool, aWorkload } from './testkit/fleet-objects.ts';
import { FleetWorld } from './testkit/fleet-world.ts';

const MINUTE = 60_000;

function anOverlay(name: string, spec: Partial<NodeOverlaySpec>): NodeOverlay {
  return {
    ...{ apiVersion: 'karpenter.sh/v1alpha1', kind: 'NodeOverlay', metadata: { name } },
    spec: { requirements: [], ...spec },
  };
}

const ON_DEMAND = { key: LABEL_CAPACITY_TYPE, operator: 'In' as const, values: ['on-demand'] };

describe('an overlay', () => {
  it('with a discount makes plans buy what is cheap with it', async () => {
    const world = await FleetWorld.start({ slowHeartbeats: true });
    await world.client.create(NODE_OVERLAYS, anOverlay('plan', { requirements: [ON_DEMAND], priceAdjustment: '-80%' }));
    await world.client.create(NODE_POOLS, aPool('general'));
    await world.client.create(DEPLOYMENTS, aWorkload('web', 3, '1500m'));
    await world.clock.advance(2 * MINUTE);
    expect(Object.keys(await machinesBy(world, LABEL_CAPACITY_TYPE))).toEqual(['on-demand']);
    const overlay = await world.client.get(NODE_OVERLAYS, { name: 'plan' });
    expect(conditionOf(overlay, 'Ready')).toMatchObject({ status: 'True' });
    await world.end();
  });

  it('with a device makes room for pods that ask for it, and the claim says that it has it', async () => {
    const world = await FleetWorld.start({ slowHeartbeats: true });
    const requirements = [{ key: LABEL_INSTANCE_TYPE, operator: 'In' as const, values: ['large'] }];
    await world.client.create(
      NODE_OVERLAYS,
      anOverlay('fuse', { requirements, capacity: { 'example.com/fuse': '4' } }),
    );
    await world.client.create(NODE_POOLS, aPool('general'));
    await world.client.create(PODS, aPodAsking('fused', { cpu: '100m', 'example.com/fuse': '1' }));
    await world.clock.advance(MINUTE);
    expect(await machinesBy(world, LABEL_INSTANCE_TYPE)).toEqual({ large: 1 });
    const [claim] = await claimsOf(world);
    expect(claim?.status?.capacity).toMatchObject({ 'example.com/fuse': '4' });
    await world.end();
  });

  it('in conflict with another says with which, until one of them has another weight', async () => {
    const world = await FleetWorld.start({ slowHeartbeats: true });
    await world.client.create(NODE_POOLS, aPool('general'));
    await world.client.create(NODE_OVERLAYS, anOverlay('one', { price: '1' }));
    await world.client.create(NODE_OVERLAYS, anOverlay('two', { requirements: [ON_DEMAND], price: '2' }));
    await world.clock.advance(MINUTE);
    const said = async (name: string) =>
      conditionOf(await world.client.get(NODE_OVERLAYS, { name }), 'ValidationSucceeded');
    expect(await said('one')).toMatchObject({
      ...{ status: 'False', reason: 'Conflict' },
      message: expect.stringContaining('NodeOverlay two has the same weight'),
    });
    expect(await said('two')).toMatchObject({ status: 'True' });
    await world.client.patch(NODE_OVERLAYS, { name: 'two' }, { type: 'merge', body: { spec: { weight: 3 } } });
    await world.clock.advance(MINUTE);
    expect(await said('one')).toMatchObject({ status: 'True' });
    await world.end();
  });
});
