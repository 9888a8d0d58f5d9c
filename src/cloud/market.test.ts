import { expect, it } from 'vitest';
import type { NodeClaim } from '../apis/karpenter/node-claim.ts';
import { VirtualClock } from '../platform/virtual-clock.ts';
import type { Catalogue } from './cloud.ts';
import { Market } from './market.ts';
import { Reservations } from './reservations.ts';
import { UnavailableOfferings } from './unavailable-offerings.ts';

const NEVER = new AbortController().signal;
const NODE_CLASS = { apiVersion: 'test/v1', kind: 'TestNodeClass', metadata: { name: 'web' } };
const SPOT = { capacityType: 'spot', instanceType: 'small', zone: 'a' } as const;
const CLAIM = {
  metadata: { name: 'web-1', uid: 'u1', labels: {} },
  spec: { nodeClassRef: { group: 'test', kind: 'TestNodeClass', name: 'web' } },
} as unknown as NodeClaim;

it('a node class that moves to another region is not held to what was refused in the former one', async () => {
  const clock = new VirtualClock();
  const catalogue = {
    instanceTypes: [{ name: 'small', capacity: {}, labels: {}, offerings: [{ ...SPOT, price: 1 }] }],
    reservations: [],
    countedAt: 0,
  } as unknown as Catalogue;
  let region = 'east';
  const cloud = { name: 'test', labels: { wellKnown: [], restrictedDomains: [] }, scopeOf: () => region };
  const market = new Market({
    cloud: { ...cloud, catalogue: async () => catalogue },
    clock,
    unavailable: new UnavailableOfferings({ clock }),
    reservations: new Reservations({ clock }),
  });
  const health = async () => (await market.instanceTypes(NODE_CLASS, NEVER))[0]?.offerings[0]?.healthy ?? true;
  expect(await health()).toBe(true);
  market.refused({ offering: SPOT, cause: 'capacity', message: 'none left' }, CLAIM);
  expect(await health()).toBe(false);
  region = 'west';
  expect(await health()).toBe(true);
});
