import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { NewNode, RankedOffering } from '../solution.ts';
import { NO_LIMITS, onDemandWanted, type SpotLimits, spotShortfalls } from './spot-limits.ts';
import { spotPoolKey } from './spot-pool.ts';
import { type PoolToSpread, spreadOverSpotPools } from './spread-over-spot-pools.ts';

/** `spot small/a 1`, or with a reservation `reserved small/a 0 r-1`. */
function offering(text: string): RankedOffering {
  const [capacityType, place = '', price, reservationId] = text.split(' ');
  const [instanceType = '', zone = ''] = place.split('/');
  return {
    instanceType,
    zone,
    capacityType: capacityType as RankedOffering['capacityType'],
    price: Number(price),
    ...(reservationId === undefined ? {} : { reservationId }),
  };
}

function node(offerings: readonly RankedOffering[], pool = 'general'): NewNode {
  return { pool, requirements: [], offerings, price: offerings[0]?.price ?? 0, pods: [0], requests: {} };
}

const words = ({ capacityType, instanceType, zone }: RankedOffering): string =>
  `${capacityType} ${instanceType}/${zone}`;
const firsts = (nodes: readonly NewNode[]): string[] => nodes.map(({ offerings }) => words(offerings[0]!));

function spread(nodes: readonly NewNode[], limits: Partial<SpotLimits>, more: Partial<PoolToSpread> = {}) {
  const counts = { nodes: 0, onDemand: 0, spot: new Map<string, number>() };
  const pool = { limits: { ...NO_LIMITS, ...limits }, counts, ...more };
  return spreadOverSpotPools(nodes, new Map([['general', pool]]));
}

const ALIKE = ['spot small/a 1', 'spot small/b 1.25', 'spot large/a 2', 'on-demand small/a 3', 'on-demand small/b 3'];
const alike = (count: number): NewNode[] => {
  const offerings = ALIKE.map(offering);
  return Array.from({ length: count }, () => node(offerings));
};

describe('a plan within the limits of a policy', () => {
  it('is the same plan where nothing is limited, or everything is kept already', () => {
    const nodes = alike(3);
    expect(spread(nodes, {}).newNodes).toBe(nodes);
    expect(spreadOverSpotPools(nodes, new Map()).newNodes).toBe(nodes);
    const counts = { nodes: 1, onDemand: 1, spot: new Map() };
    expect(spread(nodes, { onDemandBase: 1 }, { counts }).newNodes).toBe(nodes);
  });

  it('buys as many on demand as are asked for, and says why', () => {
    const { newNodes, changes, gaps } = spread(alike(4), { onDemandBase: 1, onDemandPercent: 30 });
    expect(firsts(newNodes).sort()).toEqual(['on-demand small/a', 'on-demand small/a', 'spot small/a', 'spot small/a']);
    expect(changes.map(({ rule, sentence }) => [rule, sentence])).toEqual(
      Array.from({ length: 2 }, () => [
        'on-demand',
        'on-demand small in a instead of spot small in a: 2 of the 4 nodes of general are to be on-demand',
      ]),
    );
    expect(gaps).toEqual([]);
  });

  it('counts the nodes that are there, on demand and reserved alike', () => {
    const counts = { nodes: 6, onDemand: 3, spot: new Map([['small/a', 3]]) };
    expect(spread(alike(2), { onDemandPercent: 50 }, { counts }).changes).toHaveLength(1);
    const reserved = [node([offering('reserved small/a 0.003 r-1'), ...ALIKE.map(offering)]), ...alike(1)];
    expect(spread(reserved, { onDemandPercent: 50 }).changes).toEqual([]);
  });

  it('makes those nodes on-demand that cost least extra as such', () => {
    const dear = node(['spot small/a 1', 'on-demand small/a 3'].map(offering));
    const cheap = node(['spot large/a 4', 'on-demand large/a 4.5'].map(offering));
    const { newNodes, changes } = spread([dear, cheap, dear], { onDemandBase: 1 });
    expect(changes.map((change) => change.node)).toEqual([1]);
    expect(newNodes[1]?.price).toBe(4.5);
  });

  it('spreads nodes over spot pools before it buys on demand', () => {
    const { newNodes, changes } = spread(alike(4), { maxPercentPerSpotPool: 25 });
    expect(firsts(newNodes).sort()).toEqual(['on-demand small/a', 'spot large/a', 'spot small/a', 'spot small/b']);
    expect(changes.map(({ rule }) => rule)).toEqual(['spot-pool', 'spot-pool', 'spot-pool']);
    expect(changes[0]?.sentence).toContain('at most 1 of the 4 nodes of general may be in one spot pool');
  });

  it('leaves a spot pool alone that is full of nodes that are there', () => {
    const counts = { nodes: 5, onDemand: 0, spot: new Map([['small/a', 4]]) };
    const { newNodes } = spread(alike(3), { maxPercentPerSpotPool: 50 }, { counts });
    expect(firsts(newNodes)).toEqual(['spot small/b', 'spot small/b', 'spot small/b']);
  });

  it('makes room in a spot pool for a node that has no other, by moving one that has', () => {
    const onlyA = node([offering('spot small/a 1')]);
    const aOrB = node(['spot small/a 1', 'spot small/b 5'].map(offering));
    const { newNodes, gaps } = spread([aOrB, onlyA], { maxPercentPerSpotPool: 50 });
    expect(firsts(newNodes)).toEqual(['spot small/b', 'spot small/a']);
    expect(gaps).toEqual([]);
  });

  it('never takes the last way to launch a node, and says what it could not keep', () => {
    const nodes = [0, 1, 2].map(() => node([offering('spot small/a 1')]));
    const { newNodes, gaps } = spread(nodes, { onDemandBase: 1, maxPercentPerSpotPool: 34 });
    expect(newNodes).toBe(nodes);
    expect(gaps.map(({ rule, sentence }) => [rule, sentence.split(':')[0]])).toEqual([
      ['on-demand', '1 of the 3 nodes of general are to be on-demand, 1 of them cannot be'],
      ['spot-pool', 'at most 1 of the 3 nodes of general may be in one spot pool, small/a gets 2 more'],
    ]);
  });

  it('says of nodes that are there already that they are not replaced, not that they could not be', () => {
    const counts = { nodes: 7, onDemand: 0, spot: new Map([['small/a', 7]]) };
    const { newNodes, gaps } = spread(alike(1), { onDemandBase: 1, onDemandPercent: 20 }, { counts });
    expect(firsts(newNodes)).toEqual(['on-demand small/a']);
    const later = 'nodes that are there already stay as they are, and those launched later make up for it';
    expect(gaps.map(({ sentence }) => sentence)).toEqual([
      `3 of the 8 nodes of general are to be on-demand, 2 of them are not yet: ${later}`,
    ]);
    const [both] = spread([node([offering('spot small/a 1')])], { onDemandBase: 3 }, { counts }).gaps;
    expect(both?.sentence).toBe(
      '3 of the 8 nodes of general are to be on-demand, 1 of them cannot be: nothing else that its NodePool allows holds their pods, ' +
        `and 2 of them are not yet: ${later}`,
    );
  });

  it('keeps all offerings of a node, those that keep the limits first', () => {
    const { newNodes } = spread(alike(1), { onDemandBase: 1 });
    expect(newNodes[0]?.offerings.map(words)).toEqual([
      'on-demand small/a',
      'on-demand small/b',
      'spot small/a',
      'spot small/b',
      'spot large/a',
    ]);
    const counts = { nodes: 1, onDemand: 0, spot: new Map([['small/a', 1]]) };
    expect(spread(alike(1), { maxPercentPerSpotPool: 50 }, { counts }).newNodes[0]?.offerings.map(words)).toEqual([
      'spot small/b',
      'spot large/a',
      'on-demand small/a',
      'on-demand small/b',
      'spot small/a',
    ]);
  });

  it('has nodes that stay as they were planned fall back on what keeps the limits too, without a word', () => {
    const offerings = ['spot small/a 1', 'spot small/b 1.25', 'spot large/a 2', 'on-demand small/a 3'].map(offering);
    const counts = { nodes: 3, onDemand: 1, spot: new Map([['small/b', 2]]) };
    const { newNodes, changes } = spread([node(offerings)], { maxPercentPerSpotPool: 50 }, { counts });
    expect(newNodes[0]?.offerings.map(words)).toEqual([
      'spot small/a',
      'spot large/a',
      'on-demand small/a',
      'spot small/b',
    ]);
    expect(changes).toEqual([]);
  });

  it('has a reserved node that is asked for fall back on demand, and on spot where there are more than are asked for', () => {
    const texts = ['reserved small/a 0.003 r-1', 'spot small/a 1', 'on-demand small/a 3'];
    const nodes = [node(texts.map(offering))];
    const { newNodes, changes } = spread(nodes, { onDemandBase: 1 });
    expect(newNodes[0]?.offerings.map(words)).toEqual(['reserved small/a', 'on-demand small/a', 'spot small/a']);
    expect(changes).toEqual([]);
    const counts = { nodes: 1, onDemand: 1, spot: new Map() };
    expect(spread(nodes, { onDemandBase: 1 }, { counts }).newNodes).toBe(nodes);
  });

  it('does not turn a node to a reserved slot that was planned for another', () => {
    const offerings = ['spot small/a 1', 'reserved small/a 0.003 r-1', 'on-demand small/a 3'].map(offering);
    expect(firsts(spread([node(offerings)], { onDemandBase: 1 }).newNodes)).toEqual(['on-demand small/a']);
  });

  it('buys nothing that the limits of the node pool forbid', () => {
    const nodes = [node(['spot small/a 1', 'on-demand large/a 2', 'on-demand small/a 3'].map(offering))];
    const allows: PoolToSpread['allows'] = (_, { instanceType }) => instanceType === 'small';
    expect(firsts(spread(nodes, { onDemandBase: 1 }, { allows }).newNodes)).toEqual(['on-demand small/a']);
  });

  it('asks for no more on demand than before where some may be missing', () => {
    expect(firsts(spread(alike(3), { onDemandBase: 2 }, { tolerated: 1 }).newNodes).sort()).toEqual([
      'on-demand small/a',
      'spot small/a',
      'spot small/a',
    ]);
    expect(spread(alike(3), { onDemandBase: 2 }, { tolerated: 5 })).toMatchObject({ changes: [], gaps: [] });
  });

  it('knows spot pools by the names that the cloud gives to instance types', () => {
    const nodes = [node(['spot other:small/a 1', 'spot other:small/b 2'].map(offering))];
    const counts = { nodes: 1, onDemand: 0, spot: new Map([['small/a', 1]]) };
    const cloudName = (name: string): string => name.replace('other:', '');
    const { newNodes, changes } = spread(nodes, { maxPercentPerSpotPool: 50 }, { counts, cloudName });
    expect(firsts(newNodes)).toEqual(['spot other:small/b']);
    expect(changes[0]?.sentence).toMatch(/^spot small in b instead of spot small in a: /);
  });

  it('keeps each pool to its own limits', () => {
    const offerings = ALIKE.map(offering);
    const nodes = [node(offerings, 'careful'), node(offerings, 'careless')];
    const counts = { nodes: 0, onDemand: 0, spot: new Map() };
    const pools = new Map([
      ['careful', { limits: { ...NO_LIMITS, onDemandBase: 1 }, counts }],
      ['careless', { limits: NO_LIMITS, counts }],
    ]);
    expect(firsts(spreadOverSpotPools(nodes, pools).newNodes)).toEqual(['on-demand small/a', 'spot small/a']);
  });
});

describe('any plan within any limits', () => {
  const places = ['small/a', 'small/b', 'large/a', 'large/b', 'huge/a'];
  const spotOffering = fc.tuple(fc.constantFrom(...places), fc.integer({ min: 1, max: 40 }));
  const someNode = fc
    .record({
      spot: fc.array(spotOffering, { minLength: 1, maxLength: 6, size: 'max' }),
      onDemand: fc.option(spotOffering),
    })
    .map(({ spot, onDemand }) => {
      const texts = spot.toSorted((a, b) => a[1] - b[1]).map(([place, price]) => `spot ${place} ${price}`);
      const last = onDemand === null ? [] : [`on-demand ${onDemand[0]} ${onDemand[1] + 40}`];
      return node([...texts, ...last].map(offering));
    });
  const limits = fc.record({
    onDemandBase: fc.nat({ max: 4 }),
    onDemandPercent: fc.nat({ max: 100 }),
    maxPercentPerSpotPool: fc.integer({ min: 1, max: 100 }),
  });
  const plans = fc.array(someNode, { minLength: 1, maxLength: 12, size: 'max' });

  const countsOf = (nodes: readonly NewNode[]) => {
    const spot = new Map<string, number>();
    let onDemand = 0;
    for (const { offerings } of nodes) {
      const first = offerings[0]!;
      if (first.capacityType === 'spot') spot.set(spotPoolKey(first), (spot.get(spotPoolKey(first)) ?? 0) + 1);
      else onDemand++;
    }
    return { nodes: nodes.length, onDemand, spot };
  };

  it('keeps every offering of every node, and its price is that of the first', () => {
    fc.assert(
      fc.property(plans, limits, (nodes, given) => {
        const { newNodes } = spread(nodes, given);
        for (const [index, { offerings, price }] of newNodes.entries()) {
          expect(new Set(offerings)).toEqual(new Set(nodes[index]?.offerings));
          expect(offerings).toHaveLength(nodes[index]?.offerings.length ?? 0);
          expect(price).toBe(offerings[0]?.price);
        }
      }),
    );
  });

  it('has a gap exactly where a rule is broken', () => {
    fc.assert(
      fc.property(plans, limits, (nodes, given) => {
        const { newNodes, gaps } = spread(nodes, given);
        const broken = spotShortfalls(given, countsOf(newNodes));
        expect(gaps.map(({ rule }) => rule).sort()).toEqual(broken.map(({ rule }) => rule).sort());
      }),
    );
  });

  it('keeps all limits where each node could be on demand', () => {
    fc.assert(
      fc.property(plans, limits, (nodes, given) => {
        const able = nodes.map(({ offerings }) => node([...offerings, offering('on-demand small/z 100')]));
        const { newNodes, gaps } = spread(able, given);
        expect(gaps).toEqual([]);
        expect(countsOf(newNodes).onDemand).toBeGreaterThanOrEqual(onDemandWanted(given, nodes.length));
        expect(spotShortfalls(given, countsOf(newNodes))).toEqual([]);
      }),
    );
  });
});
