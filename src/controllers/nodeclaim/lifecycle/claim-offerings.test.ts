import { describe, expect, it } from 'vitest';
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import { aType } from '../../../cloud/simulated/testkit/small-account.ts';
import { aNodeClaim } from '../../testkit/objects.ts';
import { offeringsFor } from './claim-offerings.ts';

const TYPES = [aType('large', 8), aType('small', 2), aType('medium', 4)];
const names = (claim: NodeClaim, types = TYPES): string[] =>
  offeringsFor(claim, types).map(({ instanceType, zone, capacityType }) => `${instanceType}/${zone}/${capacityType}`);
const asking = (...requirements: NodeClaim['spec']['requirements'][number][]): NodeClaim =>
  aNodeClaim({ spec: { requirements } });

describe('the offerings of a claim without a plan', () => {
  it('are all that it allows, the cheapest first', () => {
    const found = offeringsFor(aNodeClaim(), TYPES);
    expect(found).toHaveLength(12);
    expect(found[0]).toEqual({ instanceType: 'small', zone: 'zone-a', capacityType: 'spot', price: 0.03 });
    expect(found.map(({ price }) => price)).toEqual(found.map(({ price }) => price).toSorted((a, b) => a - b));
  });

  it('satisfy its requirements', () => {
    const claim = asking(
      { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['on-demand'] },
      { key: 'topology.kubernetes.io/zone', operator: 'NotIn', values: ['zone-a'] },
      { key: 'node.kubernetes.io/instance-type', operator: 'In', values: ['medium', 'large'] },
    );
    expect(names(claim)).toEqual(['medium/zone-b/on-demand', 'large/zone-b/on-demand']);
    expect(names(asking({ key: 'kubernetes.io/arch', operator: 'In', values: ['arm64'] }))).toEqual([]);
  });

  it('do not depend on labels that no instance type speaks of', () => {
    expect(names(asking({ key: 'team', operator: 'In', values: ['a'] }))).toHaveLength(12);
  });

  it('may choose where an instance type leaves a choice', () => {
    const chosen = { ...aType('any', 2), requirements: [{ key: 'os', operator: 'In', values: ['a', 'b'] } as const] };
    expect(names(asking({ key: 'os', operator: 'In', values: ['b', 'c'] }), [chosen])).toHaveLength(4);
    expect(names(asking({ key: 'os', operator: 'In', values: ['c'] }), [chosen])).toEqual([]);
  });

  it('hold what it asks for beside what is kept back', () => {
    const requests = (cpu: string): NodeClaim => aNodeClaim({ spec: { resources: { requests: { cpu } } } });
    expect(names(requests('1900m'))).toHaveLength(12);
    expect(new Set(names(requests('1901m')).map((name) => name.split('/')[0]))).toEqual(new Set(['medium', 'large']));
    expect(names(aNodeClaim({ spec: { resources: { requests: { 'example.com/gpu': '1' } } } }))).toEqual([]);
  });

  it('leave out what is unhealthy or full', () => {
    const type = aType('small', 2);
    const offerings = [
      { zone: 'zone-a', capacityType: 'spot', price: 1, healthy: false },
      { zone: 'zone-a', capacityType: 'reserved', price: 1, reservationId: 'full', slots: 0 },
      { zone: 'zone-a', capacityType: 'reserved', price: 2, reservationId: 'free', slots: 1 },
    ] as const;
    const [found, ...others] = offeringsFor(aNodeClaim(), [{ ...type, offerings }]);
    expect(found).toMatchObject({ reservationId: 'free' });
    expect(others).toEqual([]);
  });
});
