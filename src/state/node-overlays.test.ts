import { describe, expect, it } from 'vitest';
import type { NodeOverlay, NodeOverlaySpec } from '../apis/karpenter/node-overlay.ts';
import { aNodePool } from '../apis/karpenter/testkit/a-node-pool.ts';
import type { InstanceType } from '../engine/problem.ts';
import { adjustedPrice, overlaid } from './node-overlays.ts';

const pool = aNodePool({ metadata: { labels: { team: 'ml' } } });
const type = (name: string): InstanceType => ({
  name,
  labels: { 'kubernetes.io/arch': 'amd64', family: name[0] as string },
  capacity: { cpu: 4000 },
  offerings: [
    { zone: 'a', capacityType: 'on-demand', price: 1 },
    { zone: 'a', capacityType: 'spot', price: 0.4 },
    { zone: 'b', capacityType: 'on-demand', price: 1 },
  ],
});
const sold = [{ pool, types: [type('m5'), type('c5')] }];

const overlay = (name: string, spec: Partial<NodeOverlaySpec>): NodeOverlay => ({
  ...{ apiVersion: 'karpenter.sh/v1alpha1', kind: 'NodeOverlay', metadata: { name } },
  spec: { requirements: [], ...spec },
});
const is = (key: string, ...values: string[]) => ({ key, operator: 'In' as const, values });
const ON_DEMAND = is('karpenter.sh/capacity-type', 'on-demand');

function pricesOf(...overlays: NodeOverlay[]): Record<string, number[]> {
  const { types } = overlaid(sold, overlays);
  return Object.fromEntries((types[0] ?? []).map(({ name, offerings }) => [name, offerings.map(({ price }) => price)]));
}

describe('an overlay', () => {
  it.each([
    ['0.5', 0.5],
    ['-0.25', 0.75],
    ['+0.25', 1.25],
    ['-28%', 0.72],
    ['+10%', 1.1],
    ['-100%', 0],
    ['-7', 0],
  ])('with %s makes a price of 1 to %d', (change, price) => {
    expect(adjustedPrice(1, change)).toBeCloseTo(price);
  });

  it('holds for the offerings that its requirements select', () => {
    expect(
      pricesOf(overlay('plan', { requirements: [ON_DEMAND, is('family', 'm')], priceAdjustment: '-50%' })),
    ).toEqual({
      m5: [0.5, 0.4, 0.5],
      c5: [1, 0.4, 1],
    });
    expect(pricesOf(overlay('zone', { requirements: [is('topology.kubernetes.io/zone', 'b')], price: '3' }))).toEqual({
      m5: [1, 0.4, 3],
      c5: [1, 0.4, 3],
    });
  });

  it('selects by the name and the labels of pools too, and by nothing that nobody has', () => {
    const changed = { m5: [2, 2, 2], c5: [2, 2, 2] };
    expect(pricesOf(overlay('pool', { requirements: [is('karpenter.sh/nodepool', 'general')], price: '2' }))).toEqual(
      changed,
    );
    expect(pricesOf(overlay('team', { requirements: [is('team', 'ml')], price: '2' }))).toEqual(changed);
    expect(pricesOf(overlay('other', { requirements: [is('team', 'web')], price: '2' })).m5).toEqual([1, 0.4, 1]);
    expect(pricesOf(overlay('none', { requirements: [is('unknown', 'x')], price: '2' })).m5).toEqual([1, 0.4, 1]);
  });

  it('adds resources to types', () => {
    const { types } = overlaid(sold, [
      overlay('device', { requirements: [is('family', 'm')], capacity: { 'x.io/dev': '2' } }),
    ]);
    expect(types[0]?.map(({ capacity }) => capacity)).toEqual([{ cpu: 4000, 'x.io/dev': 2 }, { cpu: 4000 }]);
  });
});

describe('several overlays', () => {
  it('of different weights: the heaviest holds', () => {
    const light = overlay('light', { price: '9', weight: 1 });
    const heavy = overlay('heavy', { requirements: [ON_DEMAND], price: '5', weight: 7 });
    expect(pricesOf(light, heavy).m5).toEqual([5, 9, 5]);
  });

  it('of one weight that speak of the same price: the first of the alphabet is left out, and it is said', () => {
    const one = overlay('one', { price: '9' });
    const two = overlay('two', { requirements: [ON_DEMAND], price: '5' });
    const { conflicts } = overlaid(sold, [one, two]);
    expect([...conflicts]).toEqual([['one', 'two']]);
    expect(pricesOf(one, two).m5).toEqual([5, 0.4, 5]);
  });

  it('of one weight that speak of different things: all hold', () => {
    const spot = overlay('spot', { requirements: [is('karpenter.sh/capacity-type', 'spot')], price: '9' });
    const demand = overlay('demand', { requirements: [ON_DEMAND], price: '5' });
    const device = overlay('device', { capacity: { 'x.io/dev': '2' } });
    expect(overlaid(sold, [spot, demand, device]).conflicts.size).toBe(0);
    expect(pricesOf(spot, demand, device).m5).toEqual([5, 9, 5]);
  });

  it('of one weight for the same resource are in conflict', () => {
    const one = overlay('one', { capacity: { 'x.io/dev': '1' } });
    const two = overlay('two', { capacity: { 'x.io/dev': '2' } });
    const { conflicts, types } = overlaid(sold, [one, two]);
    expect([...conflicts]).toEqual([['one', 'two']]);
    expect(types[0]?.[0]?.capacity).toEqual({ cpu: 4000, 'x.io/dev': 2 });
  });

  it('are the same types where there are none', () => {
    expect(overlaid(sold, []).types[0]).toBe(sold[0]?.types);
  });
});
