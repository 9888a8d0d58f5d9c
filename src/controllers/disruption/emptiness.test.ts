import { describe, expect, it } from 'vitest';
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { Metrics } from '../../platform/metrics.ts';
import { VirtualClock } from '../../platform/virtual-clock.ts';
import type { StateNode } from '../../state/state-node.ts';
import { DEFAULT_SPOT_SETTINGS } from '../spot-policy/spot-settings.ts';
import { aCondition, aNode, aNodeClaim, aPod, later } from '../testkit/objects.ts';
import type { Candidate } from './candidate.ts';
import { Emptiness } from './emptiness.ts';
import type { Look } from './look.ts';
import { DisruptionMetrics } from './metrics.ts';

const pool = {
  metadata: { name: 'general' },
  spec: { disruption: { consolidateAfter: '0s' } },
} as unknown as NodePool;

function aStateNode(name: string): StateNode {
  const labels = {
    'karpenter.sh/nodepool': 'general',
    'karpenter.sh/capacity-type': name.startsWith('od') ? 'on-demand' : 'spot',
    'karpenter.sh/registered': 'true',
    'karpenter.sh/initialized': 'true',
    'node.kubernetes.io/instance-type': 'small',
    'topology.kubernetes.io/zone': 'a',
  };
  const status = { conditions: [aCondition('Consolidatable')] } as never;
  const claim = aNodeClaim({ name, metadata: { labels }, status });
  return { name, node: aNode({ name, metadata: { labels } }), claim };
}

/** Which of the nodes go, where one is to be on demand; `od1` and the like are. */
async function going(names: string, { used = '', awaited = '' }): Promise<string[]> {
  const clock = new VirtualClock();
  const limits = { ...DEFAULT_SPOT_SETTINGS.limits, onDemandBase: 1 };
  const emptiness = new Emptiness({
    clock,
    metrics: new DisruptionMetrics(new Metrics()),
    podEvents: { latest: () => undefined },
    policies: { for: () => ({ ...DEFAULT_SPOT_SETTINGS, limits }) },
    headroom: { isKnown: true, on: () => [] },
  });
  const nodes = names.split(' ').map(aStateNode);
  const look = {
    nodes,
    now: later(3_600_000),
    poolNamed: new Map([['general', pool]]),
    podsOn: (name: string): Pod[] => (used.includes(name) ? [aPod()] : []),
    isNominated: ({ name }: StateNode) => awaited.includes(name),
    candidate: (state: StateNode) => (awaited.includes(state.name) ? undefined : ({ state, pool } as Candidate)),
    budgets: { of: () => ({ allowed: 10, limit: 10 }), take: () => {} },
    newId: () => 'id',
  } as unknown as Look;
  const commands = await clock.run(emptiness.plan(look, new AbortController().signal));
  return commands.flatMap(({ candidates }) => candidates.map(({ state }) => state.name));
}

describe('an empty on-demand node that a policy asks for', () => {
  it('stays while others are in use, and goes with the last of them', async () => {
    expect(await going('od1 od2 s1 s2', { used: 's1' })).toEqual(['od2', 's2']);
    expect(await going('od1 s1', {})).toEqual(['od1', 's1']);
  });

  it('stays while pods are on their way to another', async () => {
    expect(await going('od1 s1', { awaited: 's1' })).toEqual([]);
  });
});
