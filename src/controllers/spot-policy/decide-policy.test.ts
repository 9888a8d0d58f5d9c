import { describe, expect, it } from 'vitest';
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import { aNodePool } from '../../apis/karpenter/testkit/a-node-pool.ts';
import type { SpotPolicy } from '../../apis/spindrift/spot-policy.ts';
import { decidePolicy } from './decide-policy.ts';
import { policiesFor } from './governing-policy.ts';
import { aSpotPolicy } from './testkit/a-spot-policy.ts';

function pool(name: string, labels: Record<string, string> = {}): NodePool {
  const made = aNodePool();
  return { ...made, metadata: { ...made.metadata, name, labels } };
}

const POOLS = [pool('web', { tier: 'front' }), pool('batch', { tier: 'back' })];
const FRONT = { nodePoolSelector: { matchLabels: { tier: 'front' } } };

function said(policy: SpotPolicy, others: readonly SpotPolicy[], pools = POOLS) {
  const { nodePools, conditions } = decidePolicy(policy, [policy, ...others], pools);
  const [effective, overlapping] = conditions;
  return { nodePools, effective, overlapping };
}

describe('the policies of a NodePool', () => {
  it('hold in the order of their priority, and of their names where that is the same', () => {
    const policies = [aSpotPolicy('b'), aSpotPolicy('c', { priority: 5 }), aSpotPolicy('a'), aSpotPolicy('d', FRONT)];
    const names = (of: NodePool): string[] => policiesFor(of, policies).map(({ metadata }) => metadata.name ?? '');
    expect(names(pool('web', { tier: 'front' }))).toEqual(['c', 'a', 'b', 'd']);
    expect(names(pool('batch', { tier: 'back' }))).toEqual(['c', 'a', 'b']);
  });

  it('select by expressions as Kubernetes does', () => {
    const selector = (operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist', values?: string[]) =>
      aSpotPolicy(operator, {
        nodePoolSelector: { matchExpressions: [{ key: 'tier', operator, ...(values && { values }) }] },
      });
    const policies = [
      selector('In', ['front']),
      selector('NotIn', ['front']),
      selector('Exists'),
      selector('DoesNotExist'),
    ];
    const names = (of: NodePool): string[] => policiesFor(of, policies).map(({ metadata }) => metadata.name ?? '');
    expect(names(pool('p', { tier: 'front' }))).toEqual(['Exists', 'In']);
    expect(names(pool('p'))).toEqual(['DoesNotExist', 'NotIn']);
  });
});

describe('a policy', () => {
  it('holds for every NodePool when it has no selector and is the only one', () => {
    const { nodePools, effective, overlapping } = said(aSpotPolicy('one'), []);
    expect(nodePools).toEqual(['batch', 'web']);
    expect(effective).toMatchObject({ status: 'True', message: 'applies to NodePools batch, web' });
    expect(overlapping).toMatchObject({ status: 'False' });
  });

  it('says where machines never return to spot although it gives them a time to', () => {
    const disrupted = (name: string, disruption: Partial<NodePool['spec']['disruption']>): NodePool => {
      const made = pool(name);
      return { ...made, spec: { ...made.spec, disruption: { ...made.spec.disruption, ...disruption } } };
    };
    const pools = [
      disrupted('calm', { consolidateAfter: 'Never' }),
      disrupted('empty', { consolidationPolicy: 'WhenEmpty' }),
      pool('other'),
    ];
    const message = (returnToSpot: { after?: string; budget?: string }): string | undefined =>
      said(aSpotPolicy('one', { returnToSpot }), [], pools).effective?.message;
    expect(message({})).toBe(
      'applies to NodePools calm, empty, other; nodes do not return to spot in calm: its consolidateAfter is Never, in empty: its consolidationPolicy is WhenEmpty',
    );
    expect(message({ budget: '0%' })).toContain('in other: returnToSpot.budget is 0%');
    expect(message({ after: 'Never', budget: '0' })).toBe('applies to NodePools calm, empty, other');
  });

  it('says that it selects nothing, and what to do about it', () => {
    const { nodePools, effective } = said(
      aSpotPolicy('one', { nodePoolSelector: { matchLabels: { tier: 'none' } } }),
      [],
    );
    expect(nodePools).toEqual([]);
    expect(effective).toMatchObject({ status: 'False', reason: 'SelectsNoNodePool' });
    expect(effective?.message).toContain('label one, or change the selector');
  });

  it('says which other policy holds instead, for which NodePool, and what to write', () => {
    const special = aSpotPolicy('special', { ...FRONT, priority: 10 });
    const general = said(aSpotPolicy('general'), [special]);
    expect(general.nodePools).toEqual(['batch']);
    expect(general.effective?.status).toBe('True');
    expect(general.overlapping).toMatchObject({
      status: 'True',
      message:
        'SpotPolicy special applies to NodePool web, not this one: set a priority above 10, or narrow nodePoolSelector',
    });
    const winner = said(special, [aSpotPolicy('general')]);
    expect(winner.overlapping?.message).toBe('this one applies to NodePool web, before general');
  });

  it('says that names decide where priorities do not', () => {
    const [first, second] = [aSpotPolicy('a', FRONT), aSpotPolicy('b', FRONT)];
    const loser = said(second, [first]);
    expect(loser.effective).toMatchObject({ status: 'False', reason: 'Overruled' });
    const hint = 'both have priority 0 and the first by name applies: give one of them a higher priority';
    expect(loser.overlapping?.message).toBe(`SpotPolicy a applies to NodePool web, not this one: ${hint}`);
    expect(said(first, [second]).overlapping?.message).toBe(`this one applies to NodePool web, before b, ${hint}`);
  });

  it('selects nothing, and says why, when its selector cannot be read', () => {
    const policy = aSpotPolicy('one', { nodePoolSelector: { matchLabels: { 'not a label': 'x' } } });
    expect(said(policy, []).effective).toMatchObject({ status: 'False', reason: 'SelectorInvalid' });
    expect(said(aSpotPolicy('two'), [policy]).nodePools).toEqual(['batch', 'web']);
  });

  it('names some of many NodePools', () => {
    const pools = Array.from({ length: 12 }, (_, index) => pool(`p${index}`));
    expect(said(aSpotPolicy('one'), [], pools).effective?.message).toMatch(/ and 2 more$/);
  });
});
