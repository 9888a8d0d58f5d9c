import { describe, expect, it } from 'vitest';
import type { StateNode } from '../../state/state-node.ts';
import { aNode, aNodeClaim } from '../testkit/objects.ts';
import { keptOnDemand } from './kept-on-demand.ts';
import { DEFAULT_SPOT_SETTINGS, type SpotSettings } from './spot-settings.ts';

/** `od1` and the like are on-demand, others spot; a trailing `-` is an empty node, `!` one that goes. */
function kept(names: string, limits: Partial<SpotSettings['limits']>): string[] {
  const nodes = names.split(' ').map((word): StateNode => {
    const labels = {
      'karpenter.sh/nodepool': 'general',
      'karpenter.sh/capacity-type': word.startsWith('od') ? 'on-demand' : 'spot',
      'karpenter.sh/registered': 'true',
      'node.kubernetes.io/instance-type': 'm5.large',
      'topology.kubernetes.io/zone': 'sim-1a',
    };
    const going = word.includes('!') ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {};
    const node = aNode({ name: word, metadata: { labels } });
    return { name: word, node, claim: aNodeClaim({ name: word, metadata: { labels, ...going } }) };
  });
  const settings = { ...DEFAULT_SPOT_SETTINGS, limits: { ...DEFAULT_SPOT_SETTINGS.limits, ...limits } };
  return [...keptOnDemand(nodes, { for: () => settings }, ({ name }) => name.includes('-'))];
}

describe('on-demand nodes', () => {
  it('are kept when they are empty, as far as a policy asks for them beside the nodes in use', () => {
    expect(kept('od1- od2- s1 s2', { onDemandBase: 1 })).toEqual(['od1-']);
    expect(kept('od1 od2- s1 s2', { onDemandBase: 1 })).toEqual([]);
    expect(kept('od1- od2- s1 s2 s3 s4', { onDemandPercent: 50 })).toEqual(['od1-', 'od2-']);
  });

  it('are kept as they are where a policy asks for more of them than are in use', () => {
    expect(kept('od1 od2 s1', { onDemandBase: 3 })).toEqual(['od1', 'od2']);
    expect(kept('od1 od2 od3- od4- s1', { onDemandBase: 3 })).toEqual(['od3-', 'od1', 'od2']);
    expect(kept('od1 od2 s1', { onDemandBase: 2 })).toEqual([]);
  });

  it('are not kept where nothing is in use, where no policy asks for them, or where they go already', () => {
    expect(kept('od1- od2- s1-', { onDemandBase: 2 })).toEqual([]);
    expect(kept('od1- s1', {})).toEqual([]);
    expect(kept('od1-! od2- s1', { onDemandBase: 2 })).toEqual(['od2-']);
  });
});
