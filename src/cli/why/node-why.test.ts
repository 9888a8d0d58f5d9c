import { describe, expect, it } from 'vitest';
import type { RankedOffering } from '../../engine/solution.ts';
import { aStateNode, ON_DEMAND, SPOT } from '../../state/testkit/a-state-node.ts';
import { nodeWhy } from './node-why.ts';
import { nodeWhyText } from './node-why-text.ts';

const SECOND: RankedOffering = { ...SPOT, zone: 'sim-1b', price: 0.04 };

const text = (parts: Parameters<typeof aStateNode>[0]): string => {
  const why = nodeWhy(aStateNode(parts));
  return why === undefined ? '' : nodeWhyText(why);
};

describe('why a node is what it is', () => {
  it('is that nothing that fit was cheaper', () => {
    const said = text({ plan: [SPOT, SECOND, ON_DEMAND] });
    expect(said).toContain('runs on m5.large (spot, sim-1a), $0.0300 an hour, 70 % below the $0.1000 of on-demand.');
    expect(said).toContain('launched from pool general for pods that ask for 1500m cpu');
    expect(said).toContain('It was the best of 3 offerings that fit.');
    expect(said).toMatch(/It was better than:\n.*\n\s+\$0\.0400 {2}m5\.large {2}spot {7}sim-1b/);
  });

  it.each([
    ['1', 'for 1 pod that asks for 2 cpu.'],
    ['3', 'for 3 pods that together ask for 2 cpu.'],
  ])('is that it was made for %s of the pods', (pods, words) => {
    const why = nodeWhy(aStateNode({ plan: [SPOT] }));
    expect(why && nodeWhyText({ ...why, requests: { cpu: '2', pods } })).toContain(words);
  });

  it('is that better offerings had no capacity', () => {
    const said = text({ plan: [SPOT, SECOND, ON_DEMAND], launched: ON_DEMAND });
    expect(said).toContain('It fell back from these offerings, which had no capacity at launch:');
    expect(said).toContain('$0.0300  m5.large  spot');
    expect(said).not.toContain('better than');
  });

  it('shows the best of many others, and how many more there were', () => {
    const plan = [
      SPOT,
      ...Array.from({ length: 20 }, (_, index) => ({ ...SPOT, zone: `z${index}`, price: 1 + index })),
    ];
    expect(text({ plan })).toContain('and 12 more, up to $20.00');
  });

  it('is not known where the claim has no plan on it', () => {
    expect(text({ plan: [] })).toContain('its alternatives are not known');
  });

  it('takes prices of today where the plan has none', () => {
    const why = nodeWhy(aStateNode({ plan: [] }), ({ capacityType }) => (capacityType === 'spot' ? 0.02 : 0.2));
    expect(why).toMatchObject({ offering: { price: 0.02 }, onDemandPrice: 0.2, unplanned: true });
  });

  it('is said of what is planned before there is a machine', () => {
    const { node: _, claim } = aStateNode();
    const { status: __, ...planned } = claim;
    const { 'node.kubernetes.io/instance-type': ___, ...labels } = claim.metadata.labels ?? {};
    const why = nodeWhy({ name: 'x', claim: { ...planned, metadata: { ...claim.metadata, labels } } });
    expect(why === undefined ? '' : nodeWhyText(why)).toContain('Node x is planned as m5.large (spot, sim-1a)');
  });

  it('is nobody’s business for a node without a claim', () => {
    const { claim: _, ...foreign } = aStateNode();
    expect(nodeWhy(foreign)).toBeUndefined();
  });
});
