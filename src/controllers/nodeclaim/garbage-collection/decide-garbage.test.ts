import { describe, expect, it } from 'vitest';
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import type { Node } from '../../../apis/kubernetes/node.ts';
import type { Machine } from '../../../cloud/machine.ts';
import { aCondition, aMachine, aNode, aNodeClaim, later, T0 } from '../../testkit/objects.ts';
import { decideGarbage } from './decide-garbage.ts';

const launched = (name: string, metadata = {}): NodeClaim =>
  aNodeClaim({
    name,
    metadata,
    status: { providerID: `simulated:///${name}`, conditions: [aCondition('Launched')] },
  });

function garbage(
  machines: Machine[],
  claims: NodeClaim[],
  nodes: Node[] = [],
  now = later(60_000),
  isListed = () => true,
) {
  const nodesOf = (providerID: string) => nodes.filter(({ spec }) => spec?.providerID === providerID);
  const found = decideGarbage({ machines, claims, isListed, nodesOf, now, settleMs: () => 30_000 });
  return [
    ...found.machines.map(({ claim }) => `machine ${claim.name}`),
    ...found.claims.map(({ metadata }) => `claim ${metadata.name}`),
  ];
}

describe('garbage', () => {
  it('is a machine whose claim is gone, or another one of the same name', () => {
    expect(garbage([aMachine('a'), aMachine('b')], [launched('b')])).toEqual(['machine a']);
    const stranger = { claim: { name: 'a', uid: 'another' } };
    expect(garbage([aMachine('a', stranger)], [launched('a')])).toEqual(['machine a']);
  });

  it('is not a machine of another autoscaler, without a UID, that a claim knows by its provider ID', () => {
    const karpenters = { claim: { name: 'a', uid: '' } };
    expect(garbage([aMachine('a', karpenters)], [launched('a')])).toEqual([]);
    expect(garbage([aMachine('a', karpenters)], [])).toEqual(['machine a']);
  });

  it('is not a machine that is young, or whose claim has not heard of it yet', () => {
    expect(garbage([aMachine('a', { launchedAt: later(40_000) })], [])).toEqual([]);
    expect(garbage([aMachine('a')], [aNodeClaim({ name: 'a' })])).toEqual([]);
  });

  it('is a claim whose machine is gone and whose node is silent', () => {
    const silent = aNode({ name: 'b', status: { conditions: [aCondition('Ready', 'Unknown')] } });
    expect(garbage([], [launched('a'), launched('b'), launched('c')], [silent, aNode({ name: 'c' })])).toEqual([
      'claim a',
      'claim b',
    ]);
  });

  it('is not a claim whose machine is where nothing could be listed', () => {
    expect(garbage([], [launched('a')], [], later(60_000), () => false)).toEqual([]);
  });

  it('is not a claim that is young, not launched, or going already', () => {
    const going = launched('b', { deletionTimestamp: '2030-01-01T00:00:00Z' });
    expect(garbage([], [aNodeClaim({ name: 'a' }), going])).toEqual([]);
    expect(garbage([], [launched('c')], [], T0)).toEqual([]);
  });

  it('may be a claim whose node was there and is not, while its machine runs', () => {
    const nodeless = (nodes: readonly Node[], metadata = {}): number => {
      const conditions = [aCondition('Launched'), aCondition('Registered')];
      const claim = aNodeClaim({ name: 'a', metadata, status: { providerID: 'simulated:///a', conditions } });
      const nodesOf = () => nodes;
      const isListed = () => true;
      const claims = [claim, launched('b')];
      const facts = { machines: [aMachine('a')], claims, isListed, nodesOf, now: T0, settleMs: () => 0 };
      return decideGarbage(facts).nodeless.length;
    };
    expect(nodeless([])).toBe(1);
    expect(nodeless([aNode({ name: 'a' })])).toBe(0);
    expect(nodeless([], { deletionTimestamp: '2030-01-01T00:00:00Z' })).toBe(0);
  });
});
