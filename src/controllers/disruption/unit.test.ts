import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type GroupedNodesOptions, groupedNodes } from './testkit/grouped-nodes.ts';
import { type Unit, unitsAmong, unitsOf } from './unit.ts';

function namesOf(units: readonly Unit[]): string[] {
  return units.map(({ candidates }) => candidates.map(({ state }) => state.name).join(' '));
}

/** What goes together when these nodes are due. */
function units(due: string, options: GroupedNodesOptions, takes: () => boolean = () => true) {
  const { look, judge, candidate, said } = groupedNodes(options);
  const found = unitsOf(due.split(' ').map(candidate), { look, reason: 'Drifted', judge, takes });
  return { units: namesOf(found), said };
}

describe('what is disrupted as one', () => {
  it('is a node that runs no pod of a group, and all nodes of a group, whichever of them is due', () => {
    const options = { groups: { big: ['a', 'b', 'c'] }, others: ['d'] };
    expect(units('d b', options).units).toEqual(['d', 'b a c']);
    expect(units('a b c d', options).units).toEqual(['a b c', 'd']);
  });

  it('is a node alone where a group is on it with all of its pods', () => {
    expect(units('a', { groups: { big: ['a', 'a'] } }).units).toEqual(['a']);
  });

  it('is all that groups on the same nodes reach, over pools too', () => {
    const groups = { one: ['a', 'b'], two: ['b', 'c'], three: ['d', 'e'] };
    expect(units('a', { groups, pools: { c: 'other' } }).units).toEqual(['a b c']);
  });

  it('is no more than the nodes of its own groups where a budget never lets all go that the chain reaches', () => {
    const groups = { one: ['a', 'b'], two: ['b', 'c'], three: ['c', 'd'] };
    const withBudget = (nodes: string) => ({ groups, budgets: { general: [{ nodes }] } });
    expect(units('a b c d', withBudget('4')).units).toEqual(['a b c d']);
    // The nodes of the groups on b are taken already, and those on c: these have their turn when they are the first.
    expect(units('a b c d', withBudget('3')).units).toEqual(['a b', 'd c']);
    expect(units('a b c d', withBudget('1')).units).toEqual(['a b', 'd c']);
  });

  it('stays as a whole while one of its pods may not be evicted, and that is said', () => {
    const podBlocker = ({ metadata }: { metadata: { name?: string } }) =>
      metadata.name === 'big-1' ? 'pod default/big-1 is kept' : undefined;
    expect(units('a', { groups: { big: ['a', 'b'] }, podBlocker })).toEqual({
      units: [],
      said: [
        'a: it is disrupted together with b, which runs pods of the same groups (default/big): pod default/big-1 is kept',
      ],
    });
  });

  it('leaves out nodes of its groups that are not taken along', () => {
    expect(units('a', { groups: { big: ['a', 'b'] } }, () => false).units).toEqual(['a']);
  });

  it('never has a part of a group, for any groups and nodes', () => {
    const node = fc.constantFrom(...'abcdefgh');
    const groups = fc.dictionary(
      fc.constantFrom('one', 'two', 'three', 'four'),
      fc.array(node, { minLength: 2, maxLength: 4 }),
    );
    fc.assert(
      fc.property(groups, fc.uniqueArray(node, { minLength: 1 }), (drawn, due) => {
        const { look, judge, candidate } = groupedNodes({ groups: drawn, others: due });
        const found = unitsOf(due.map(candidate), { look, reason: 'Drifted', judge, takes: () => true });
        const of = new Map(found.flatMap((unit) => unit.candidates.map(({ state }) => [state.name, unit] as const)));
        for (const name of due) expect(of.has(name)).toBe(true);
        for (const nodes of Object.values(drawn)) expect(new Set(nodes.map((name) => of.get(name))).size).toBe(1);
        expect(found.reduce((sum, { candidates }) => sum + candidates.length, 0)).toBe(of.size);
        // What a command is judged by when it begins is the same.
        const among = unitsAmong(found.flatMap(({ candidates }) => candidates));
        expect(among.map(({ candidates }) => candidates)).toEqual(found.map(({ candidates }) => candidates));
      }),
    );
  });
});
