import { describe, expect, it } from 'vitest';
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import type { RepairPolicy } from '../../cloud/repair-policy.ts';
import { finish } from '../../engine/packing/work.ts';
import { ComingNodes } from '../../state/coming-nodes.ts';
import type { StateNode } from '../../state/state-node.ts';
import { PoolLimits } from '../pool-limits.ts';
import { DEFAULT_SPOT_SETTINGS } from '../spot-policy/spot-settings.ts';
import { aCondition, aNode, aNodeClaim, aPod, T0 } from '../testkit/objects.ts';
import { Budgets } from './budgets/budgets.ts';
import type { Candidate } from './candidate.ts';
import type { Command } from './commands/command.ts';
import type { Look } from './look.ts';
import { validateCommand as validate } from './validate-command.ts';

const LABELS = { 'karpenter.sh/nodepool': 'general', 'karpenter.sh/initialized': 'true' };
const pool = {
  metadata: { name: 'general' },
  spec: { disruption: { budgets: [{ nodes: '2' }] } },
} as unknown as NodePool;

function aStateNode(name: string, annotations: Record<string, string> = {}, more: object = {}): StateNode {
  const status = { conditions: [aCondition('Initialized')] };
  const labels = { ...LABELS, ...more };
  const claim = aNodeClaim({ name, metadata: { labels, annotations }, status });
  return { name, node: aNode({ name, metadata: { labels } }), claim };
}

function aSpotNode(name: string): StateNode {
  const place = { 'node.kubernetes.io/instance-type': 'small', 'topology.kubernetes.io/zone': 'a' };
  return aStateNode(name, {}, { 'karpenter.sh/capacity-type': 'spot', ...place });
}

function sick({ node, ...state }: StateNode): StateNode {
  return { ...state, node: { ...node!, status: { conditions: [aCondition('Ready', 'False')] } } };
}

function aCandidate(name: string, ...pods: Pod[]): Candidate {
  const state = aStateNode(name);
  return { state, node: state.node!, claim: state.claim!, pool, pods };
}

function aCommand(candidates: readonly Candidate[], parts: Partial<Command> = {}): Command {
  const nothing = { newNodes: [], needs: [], receivers: [] };
  return { id: 'c', reason: 'Drifted', disruption: 'eventual', candidates, ...nothing, ...parts };
}

/** The cluster as it is when the command is to begin. */
function aLook(nodes: readonly StateNode[], pods: readonly Pod[] = [], changes: Partial<Look> = {}): Look {
  return {
    now: T0,
    nodes,
    node: (name: string) => nodes.find((state) => state.name === name),
    nodeOf: (name: string) => nodes.find(({ claim }) => claim?.metadata.name === name),
    poolNamed: new Map([['general', pool]]),
    budgets: new Budgets({ pools: [pool], nodes, now: T0 }),
    podsOn: () => pods,
    isNominated: () => false,
    isStuck: () => false,
    podBlocker: () => undefined,
    ...changes,
  } as unknown as Look;
}

const policiesOf = (): readonly RepairPolicy[] => [
  { conditionType: 'Ready', conditionStatus: 'False', tolerationMs: 0, priority: 1, action: 'ReplaceNode' },
];
const validateCommand = (command: Command, look: Look, onDemandPercent = 0) => {
  const limits = new PoolLimits({ pools: [], nodes: [], coming: new ComingNodes() });
  const settings = { ...DEFAULT_SPOT_SETTINGS, limits: { ...DEFAULT_SPOT_SETTINGS.limits, onDemandPercent } };
  return finish(validate(command, look, { limits, policiesOf, policies: { for: () => settings } }));
};

describe('a plan that is to begin', () => {
  it('waits where spot nodes that came meanwhile make its SpotPolicy ask for an on-demand node that goes', () => {
    const [od, spot] = [aStateNode('od'), aSpotNode('spot')];
    const command = aCommand([aCandidate('od')]);
    const before = aLook([od, aStateNode('od2'), spot]);
    const after = aLook([od, aStateNode('od2'), spot, aSpotNode('came')]);
    expect(validateCommand(command, before, 50)).toBeUndefined();
    expect(validateCommand(command, after, 50)).toContain('2 of the 3 nodes of general are to be on-demand');
    expect(validateCommand({ ...command, missed: ['general'] }, after, 50)).toBeUndefined();
    expect(validateCommand({ ...command, reason: 'Unhealthy' }, aLook([sick(od), spot]), 50)).toBeUndefined();
  });

  it('holds while nothing of it has changed, and uses the budget up', () => {
    const look = aLook(['a', 'b', 'c'].map((name) => aStateNode(name)));
    expect(validateCommand(aCommand([aCandidate('a'), aCandidate('b')]), look)).toBeUndefined();
    expect(validateCommand(aCommand([aCandidate('c')]), look)).toContain('the budgets of NodePool general');
  });

  it('takes nothing of the budget when it is dropped', () => {
    const look = aLook(['a', 'b', 'c'].map((name) => aStateNode(name)));
    const all = ['a', 'b', 'c'].map((name) => aCandidate(name));
    expect(validateCommand(aCommand(all), look)).toContain('the budgets of NodePool general');
    expect(look.budgets.left('general', 'Drifted')).toBe(2);
  });

  it('is dropped when one of its nodes is gone, is another of that name, or goes already', () => {
    const command = aCommand([aCandidate('a')]);
    expect(validateCommand(command, aLook([]))).toContain('no longer exists');
    const { claim, ...state } = aStateNode('a');
    const other = { ...state, claim: { ...claim!, metadata: { ...claim!.metadata, uid: 'other' } } };
    expect(validateCommand(command, aLook([other]))).toContain('no longer exists');
    const marked = aStateNode('a', { 'spindrift.dev/disruption': 'another' });
    expect(validateCommand(command, aLook([marked]))).toContain('is being disrupted already');
  });

  it('is dropped when a pod came to one of its nodes, but not when one left', () => {
    const command = aCommand([aCandidate('a', aPod({ name: 'old' }), aPod({ name: 'older' }))]);
    expect(validateCommand(command, aLook([aStateNode('a')], [aPod({ name: 'old' })]))).toBeUndefined();
    expect(validateCommand(command, aLook([aStateNode('a')], [aPod({ name: 'new' })]))).toContain('default/new');
  });

  it('is dropped when a pod may no longer be evicted, unless the node is sick', () => {
    const look = () => aLook([sick(aStateNode('a'))], [aPod()], { podBlocker: () => 'a budget is shut' });
    const candidates = [aCandidate('a', aPod())];
    expect(validateCommand(aCommand(candidates), look())).toContain('a budget is shut');
    expect(validateCommand(aCommand(candidates, { reason: 'Unhealthy' }), look())).toBeUndefined();
  });

  it('is dropped when a node that was sick is well again', () => {
    const command = aCommand([aCandidate('a')], { reason: 'Unhealthy' });
    expect(validateCommand(command, aLook([sick(aStateNode('a'))]))).toBeUndefined();
    expect(validateCommand(command, aLook([aStateNode('a')]))).toContain('healthy again');
  });

  it('is dropped when a node that pods were to go to is gone or goes itself', () => {
    const command = aCommand([aCandidate('a')], { receivers: ['b'] });
    expect(validateCommand(command, aLook([aStateNode('a')]))).toContain('node b, where its pods were to move');
    const going = aStateNode('b', { 'spindrift.dev/interruption': 'spot-interruption' });
    expect(validateCommand(command, aLook([aStateNode('a'), going]))).toContain('node b, where its pods were to move');
    expect(validateCommand(command, aLook([aStateNode('a'), aStateNode('b')]))).toBeUndefined();
  });

  it('is dropped when a claim that is to come up first is gone or goes itself', () => {
    const command = aCommand([aCandidate('a')], { needs: ['new'] });
    expect(validateCommand(command, aLook([aStateNode('a')]))).toContain('NodeClaim new, which must be up first');
    const { claim } = aStateNode('new', { 'spindrift.dev/disruption': 'another' });
    const coming = { name: 'nodeclaim/new', claim: claim! };
    expect(validateCommand(command, aLook([aStateNode('a'), coming]))).toContain(
      'NodeClaim new, which must be up first',
    );
    const { claim: staying } = aStateNode('new');
    const up = { name: 'nodeclaim/new', claim: staying! };
    expect(validateCommand(command, aLook([aStateNode('a'), up]))).toBeUndefined();
  });
});
