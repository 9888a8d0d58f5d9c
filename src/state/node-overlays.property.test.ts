/** Among overlays of different weights, the heaviest that selects an offering decides, whatever their order. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { NodeOverlay } from '../apis/karpenter/node-overlay.ts';
import { aNodePool } from '../apis/karpenter/testkit/a-node-pool.ts';
import type { InstanceType } from '../engine/problem.ts';
import { adjustedPrice, overlaid } from './node-overlays.ts';

const TYPES = ['m', 'c', 'r'];
const ZONES = ['a', 'b'];

const sold = [
  {
    pool: aNodePool(),
    types: TYPES.map(
      (name): InstanceType => ({
        name,
        capacity: { cpu: 1000 },
        offerings: ZONES.map((zone) => ({ zone, capacityType: 'on-demand', price: 1 })),
      }),
    ),
  },
];

const overlays = fc.uniqueArray(
  fc.record({
    weight: fc.integer({ min: 1, max: 50 }),
    types: fc.subarray(TYPES, { minLength: 1 }),
    zones: fc.subarray(ZONES, { minLength: 1 }),
    change: fc.constantFrom('0.5', '-10%', '+0.2', '-100%'),
  }),
  { selector: ({ weight }) => weight, maxLength: 6 },
);

it('has no conflict between different weights, and the price of the heaviest', () => {
  fc.assert(
    fc.property(overlays, (drawn) => {
      const objects = drawn.map(({ weight, types, zones, change }): NodeOverlay => {
        const isPrice = !/^[+-]/.test(change);
        return {
          ...{ apiVersion: 'karpenter.sh/v1alpha1', kind: 'NodeOverlay', metadata: { name: `overlay-${weight}` } },
          spec: {
            weight,
            requirements: [
              { key: 'node.kubernetes.io/instance-type', operator: 'In', values: types },
              { key: 'topology.kubernetes.io/zone', operator: 'In', values: zones },
            ],
            ...(isPrice ? { price: change } : { priceAdjustment: change }),
          },
        };
      });
      const { types, conflicts } = overlaid(sold, objects);
      expect(conflicts.size).toBe(0);
      for (const { name, offerings } of types[0] ?? [])
        for (const { zone, price } of offerings) {
          const [heaviest] = drawn
            .filter((one) => one.types.includes(name) && one.zones.includes(zone))
            .toSorted((a, b) => b.weight - a.weight);
          expect(price).toBe(heaviest === undefined ? 1 : adjustedPrice(1, heaviest.change));
        }
    }),
  );
});
