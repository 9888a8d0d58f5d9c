import { describe, expect, it } from 'vitest';
import type { RankedOffering } from '../../engine/solution.ts';
import type { StateNode } from '../../state/state-node.ts';
import { aNode, aNodeClaim } from '../testkit/objects.ts';
import { onDemandLost } from './on-demand-lost.ts';
import { DEFAULT_SPOT_SETTINGS, type SpotSettings } from './spot-settings.ts';

type CapacityType = RankedOffering['capacityType'];

const words = (text: string): string[] => text.split(' ').filter((word) => word !== '');
const typeOf = (word: string): CapacityType =>
  word.startsWith('od') ? 'on-demand' : word.startsWith('r') ? 'reserved' : 'spot';

function aStateNode(name: string): StateNode {
  const labels = {
    'karpenter.sh/nodepool': 'general',
    'karpenter.sh/capacity-type': typeOf(name),
    'karpenter.sh/registered': 'true',
    'node.kubernetes.io/instance-type': 'small',
    'topology.kubernetes.io/zone': 'a',
  };
  return { name, node: aNode({ name, metadata: { labels } }), claim: aNodeClaim({ name, metadata: { labels } }) };
}

/** What is said when some nodes go: `od1` and the like are on-demand, `r1` reserved, others spot. */
function lost(going: string, staying: string, limits: Partial<SpotSettings['limits']>, coming = ''): string[] {
  const newNodes = words(coming).map((word) => ({
    pool: 'general',
    offerings: [{ instanceType: 'small', zone: 'a', capacityType: typeOf(word), price: 1 }],
  }));
  const settings = { ...DEFAULT_SPOT_SETTINGS, limits: { ...DEFAULT_SPOT_SETTINGS.limits, ...limits } };
  const leaving = words(going).map(aStateNode);
  const departure = { going: leaving, nodes: [...leaving, ...words(staying).map(aStateNode)], newNodes };
  return onDemandLost(departure, { for: () => settings }).map(({ sentence }) => sentence.split(':')[0] ?? '');
}

describe('on-demand nodes that a policy asks for', () => {
  it('are lost where one goes and those that are left are too few', () => {
    const base = { onDemandBase: 1 };
    expect(lost('od1', 's1 s2', base)).toEqual([
      '1 of the 2 nodes of general are to be on-demand, 1 of them will be missing',
    ]);
    expect(lost('od1', 's1 od2', base)).toEqual([]);
    expect(lost('od1', 's1 r1', base)).toEqual([]);
    expect(lost('od1 od2', 'od3 s1 s2 s3', { onDemandPercent: 50 })).toEqual([
      '2 of the 4 nodes of general are to be on-demand, 1 of them will be missing',
    ]);
  });

  it('are not lost where others come for them, where nothing is left, or where spot goes', () => {
    const base = { onDemandBase: 1 };
    expect(lost('od1', 's1', base, 'od2')).toEqual([]);
    expect(lost('od1', 's1', base, 's2')).toHaveLength(1);
    expect(lost('od1', '', base)).toEqual([]);
    expect(lost('s1', 's2', base)).toEqual([]);
    expect(lost('od1', 's1', {})).toEqual([]);
  });

  it('that were missing before are not lost', () => {
    expect(lost('s1', 'od1 s2', { onDemandBase: 3 })).toEqual([]);
    expect(lost('od1', 's1 s2', { onDemandBase: 3 })).toEqual([]);
    expect(lost('od1', 's1 s2 s3 s4', { onDemandBase: 3 })).toHaveLength(1);
  });
});
