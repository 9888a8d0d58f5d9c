import { describe, expect, it } from 'vitest';
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import type { RepairPolicy } from '../../cloud/repair-policy.ts';
import { finish } from '../../engine/packing/work.ts';
import { ComingNodes } from '../../state/coming-nodes.ts';
import type { StateNode } from '../../state/state-node.ts';
import { PoolLimits } from '../pool-limits.ts';
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

function aStateNode(name: string, annotations: Record<string, string> = {}): StateNode {
  const status = { conditions: [aCondition('Initialized')] };
  const claim = aNodeClaim({ name, metadata: { labels: LABELS, annotations }, status });
  return { name, node: aNode({ name, metadata: { labels: LABELS } }), claim };
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
const validateCommand = (command: Command, look: Look) => {
  const limits = new PoolLimits({ pools: [], nodes: [], coming: new ComingNodes() });
  return finish(validate(command, look, { limits, policiesOf }));
};

describe('a plan that is to begin', () => {
  it('holds while nothing of it has changed, and uses the budget up', () => {
    const look = aLook(['a', 'b', 'c'].map((name) => aStateNode(name)));
    expect(validateCommand(aCommand([aCandidate('a'), aCandidate('b')]), look)).toBeUndefined();
    expect(validateCommand(aCommand([aCandidate('c')]), look)).toContain('the budgets of general');
  });

  it('is dropped when one of its nodes is gone, is another of that name, or goes already', () => {
    const command = aCommand([aCandidate('a')]);
    expect(validateCommand(command, aLook([]))).toContain('no longer there');
    const { claim, ...state } = aStateNode('a');
    const other = { ...state, claim: { ...claim!, metadata: { ...claim!.metadata, uid: 'other' } } };
    expect(validateCommand(command, aLook([other]))).toContain('no longer there');
    const marked = aStateNode('a', { 'spindrift.dev/disruption': 'another' });
    expect(validateCommand(command, aLook([marked]))).toContain('goes already');
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
    expect(validateCommand(command, aLook([aStateNode('a')]))).toContain('no longer sick');
  });

  it('is dropped when a node that pods were to go to is gone or goes itself', () => {
    const command = aCommand([aCandidate('a')], { receivers: ['b'] });
    expect(validateCommand(command, aLook([aStateNode('a')]))).toContain('b, where pods were to go');
    const going = aStateNode('b', { 'spindrift.dev/interruption': 'spot-interruption' });
    expect(validateCommand(command, aLook([aStateNode('a'), going]))).toContain('b, where pods were to go');
    expect(validateCommand(command, aLook([aStateNode('a'), aStateNode('b')]))).toBeUndefined();
  });

  it('is dropped when a claim that is to come up first is gone or goes itself', () => {
    const command = aCommand([aCandidate('a')], { needs: ['new'] });
    expect(validateCommand(command, aLook([aStateNode('a')]))).toContain('new, which was to come up first');
    const { claim } = aStateNode('new', { 'spindrift.dev/disruption': 'another' });
    const coming = { name: 'nodeclaim/new', claim: claim! };
    expect(validateCommand(command, aLook([aStateNode('a'), coming]))).toContain('new, which was to come up first');
    const { claim: staying } = aStateNode('new');
    const up = { name: 'nodeclaim/new', claim: staying! };
    expect(validateCommand(command, aLook([aStateNode('a'), up]))).toBeUndefined();
  });
});
