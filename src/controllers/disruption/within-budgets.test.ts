import { describe, expect, it } from 'vitest';
import type { DisruptionBudget } from '../../apis/karpenter/node-pool.ts';
import type { RecordedEvent } from '../../kube/event-recorder.ts';
import { groupedNodes } from './testkit/grouped-nodes.ts';
import { unitsOf } from './unit.ts';
import { giveBack, recordLargeGroups, withinBudgets } from './within-budgets.ts';

const GROUP = ['a', 'b', 'c', 'd'];

/** Which nodes go of a group of four and two others, with a budget, and what is said. */
function going(
  due: string,
  nodes: string,
  { groups = { big: GROUP }, pools = {}, more = {} }: Options = {},
): { going: string; said: string[]; events: string[] } {
  const budgets = { general: [{ nodes }], ...more };
  const world = groupedNodes({ groups, pools, budgets, others: ['x', 'y'] });
  const { look, judge, candidate, said } = world;
  const units = unitsOf(due.split(' ').map(candidate), { look, reason: 'Drifted', judge, takes: () => true });
  const chosen = withinBudgets(units, 'Drifted', look);
  const events: RecordedEvent[] = [];
  recordLargeGroups(chosen, 'Drifted', look, { record: (event) => void events.push(event) });
  return {
    going: chosen.flatMap(({ candidates }) => candidates.map(({ state }) => state.name)).join(' '),
    said,
    events: events.map(({ object, message }) => `${object.metadata.name}: ${message}`),
  };
}

interface Options {
  readonly groups?: Readonly<Record<string, readonly string[]>>;
  readonly pools?: Readonly<Record<string, string>>;
  readonly more?: Readonly<Record<string, readonly DisruptionBudget[]>>;
}

describe('budgets of a pool', () => {
  it('let a group go when there is room for all of its nodes', () => {
    expect(going('a x', '5').going).toBe('a b c d x');
    expect(going('x a', '5').going).toBe('x a b c d');
  });

  it('have a group wait for room for all of it, and let others go meanwhile, which is said', () => {
    expect(going('x a', '4')).toEqual({
      going: 'x',
      said: [
        'general: its budgets allow 3 more disruptions for the reason Drifted now, and its 4 nodes with pods of group default/big are disrupted together',
        'a: the budgets of NodePool general allow 3 more disruptions for the reason Drifted now, and its 4 nodes with pods of group default/big are disrupted together',
      ],
      events: [],
    });
  });

  it('that are smaller than a group let it go when nothing else goes, which is said', () => {
    expect(going('a x', '1')).toEqual({
      going: 'a b c d',
      said: ['general: its budgets allow no more disruptions for the reason Drifted now'],
      events: [
        'general: Disrupting nodes a, b, c, d together for the reason Drifted, although the budgets allow 1 at once: they run pods of group default/big. Other nodes of the NodePool wait',
      ],
    });
    expect(going('x a', '1').going).toBe('x');
  });

  it('that let nothing go let no group go', () => {
    expect(going('a', '0').going).toBe('');
  });

  it('must all have room for a group over two pools', () => {
    const pools = { c: 'other', d: 'other' };
    expect(going('a', '2', { pools, more: { other: [{ nodes: '2' }] } }).going).toBe('a b c d');
    expect(going('a', '2', { pools, more: { other: [{ nodes: '0' }] } }).going).toBe('');
  });

  it('have what a group took when it does not go', () => {
    const { look, judge, candidate } = groupedNodes({ groups: { big: GROUP }, budgets: { general: [{ nodes: '4' }] } });
    const units = unitsOf([candidate('a')], { look, reason: 'Drifted', judge, takes: () => true });
    expect(withinBudgets(units, 'Drifted', look)).toHaveLength(1);
    expect(look.budgets.left('general', 'Drifted')).toBe(0);
    giveBack(units, look);
    expect(look.budgets.left('general', 'Drifted')).toBe(4);
  });
});
