import { describe, expect, it } from 'vitest';
import type { Node } from '../../apis/kubernetes/node.ts';
import { withDefaults } from '../../apis/schema/with-defaults.ts';
import type { SimulatedNodeClass } from '../../apis/spindrift/simulated-node-class.ts';
import { SIMULATED_NODE_CLASS_SPEC } from '../../apis/spindrift/simulated-node-class-schema.ts';
import type { InstanceType, Offering } from '../../engine/problem.ts';
import { seededRandom } from '../../platform/random.ts';
import { VirtualClock } from '../../platform/virtual-clock.ts';
import { NodeClassAccounts } from './node-class-accounts.ts';
import { nodeOf } from './node-of-instance.ts';
import { SimulatedMarket } from './offline.ts';
import { SimulatedCloud } from './simulated-cloud.ts';

const { now } = { now: new VirtualClock().now() };

function nodeClass(
  spec: Parameters<typeof withDefaults<typeof SIMULATED_NODE_CLASS_SPEC>>[1] = {},
): SimulatedNodeClass {
  return {
    apiVersion: 'spindrift.dev/v1alpha1',
    kind: 'SimulatedNodeClass',
    metadata: { name: 'default' },
    spec: withDefaults(SIMULATED_NODE_CLASS_SPEC, spec),
  };
}

function sold(made: SimulatedNodeClass, nodes: readonly Node[] = []): readonly InstanceType[] {
  const types = new SimulatedMarket({ now, nodeClasses: [made], nodes }).instanceTypes('default');
  return 'problem' in types ? [] : types;
}

function offering(types: readonly InstanceType[], capacityType: string): Offering | undefined {
  const type = types.find(({ name }) => name === 'm5.large');
  return type?.offerings.find((other) => other.capacityType === capacityType && other.zone === 'sim-1a');
}

const RESERVATION = { id: 'cr', instanceType: 'm5.large', zone: 'sim-1a', count: 3 };

describe('the market of the simulated cloud', () => {
  it('gives the same prices whenever it is asked', () => {
    const moving = nodeClass({ spotMarket: { volatility: 1 } });
    expect(offering(sold(moving), 'spot')).toEqual(offering(sold(nodeClass()), 'spot'));
    expect(offering(sold(moving), 'spot')?.price).toBeGreaterThan(0);
  });

  it('gives the prices of the moment where they follow from a seed and somebody asks for them', () => {
    const moving = nodeClass({ seed: 'seven', spotMarket: { volatility: 1 } });
    const cloud = new SimulatedCloud({ clock: new VirtualClock({ start: now }), random: seededRandom('any') });
    new NodeClassAccounts({ cloud }).apply(moving);
    const paid = offering(cloud.account('default')?.priceList(now) ?? [], 'spot')?.price;
    const live = new SimulatedMarket({ now, nodeClasses: [moving], live: true }).instanceTypes('default');
    expect(offering('problem' in live ? [] : live, 'spot')?.price).toBe(paid);
    expect(offering(sold(moving), 'spot')?.price).not.toBe(paid);
  });

  it('has out of the market what a node class has none of', () => {
    const exhausted = sold(nodeClass({ overrides: [{ capacityType: 'spot', instanceType: 'm5.large', capacity: 0 }] }));
    expect(offering(exhausted, 'spot')?.healthy).toBe(false);
    expect(offering(exhausted, 'on-demand')?.healthy).toBeUndefined();
  });

  it('lets the last word about an offering count', () => {
    const overrides = [
      { capacityType: 'spot' as const, capacity: 0 },
      { capacityType: 'spot' as const, instanceType: 'm5.large', capacity: 10 },
    ];
    expect(offering(sold(nodeClass({ overrides })), 'spot')?.healthy).toBeUndefined();
  });

  it('counts the machines that run in a reservation', () => {
    const reserved = nodeClass({ reservations: [RESERVATION] });
    const node = nodeOf({
      ...{ id: 'i-0', providerID: 'simulated:///sim-1/sim-1a/i-0', account: 'default', token: 'uid', state: 'running' },
      ...{ instanceType: 'm5.large', zone: 'sim-1a', capacityType: 'reserved', reservationId: 'cr', launchedAt: now },
      ...{ labels: {}, capacity: {}, allocatable: {}, tags: {}, bootstrap: { labels: {}, taints: [] }, reboots: [] },
    });
    expect(offering(sold(reserved), 'reserved')?.slots).toBe(3);
    expect(offering(sold(reserved, [node]), 'reserved')?.slots).toBe(2);
  });

  it('says why nothing can be had', () => {
    const market = new SimulatedMarket({ now, nodeClasses: [] });
    expect(market.instanceTypes('default')).toEqual({ problem: 'there is no SimulatedNodeClass default' });
  });
});
