import { describe, expect, it } from 'vitest';
import type { DisruptionBudget } from '../../../apis/karpenter/node-pool.ts';
import { aNodePool } from '../../../apis/karpenter/testkit/a-node-pool.ts';
import { type EpochMs, parseTimestamp } from '../../../platform/clock.ts';
import { Metrics } from '../../../platform/metrics.ts';
import type { StateNode } from '../../../state/state-node.ts';
import { aStateNode } from '../../../state/testkit/a-state-node.ts';
import type { BudgetedReason } from './allowed-disruptions.ts';
import { BUDGETED_REASONS, BudgetMetrics } from './budget-metrics.ts';
import { Budgets } from './budgets.ts';

const at = (text: string): EpochMs => parseTimestamp(text) as EpochMs;
const NOON = at('2030-01-02T12:00:00Z');

const nodesOf = (count: number): StateNode[] =>
  Array.from({ length: count }, (_, index) => aStateNode({ name: `node-${index}` }));

function budgets(list: readonly DisruptionBudget[], nodes: readonly StateNode[], now = NOON): Budgets {
  return new Budgets({ pools: [aNodePool({ spec: { disruption: { budgets: [...list] } } })], nodes, now });
}

function left(
  list: readonly DisruptionBudget[],
  nodes: readonly StateNode[],
  reason: BudgetedReason = 'Empty',
): number {
  return budgets(list, nodes).left('general', reason);
}

const sick = (state: StateNode): StateNode => ({
  ...state,
  ...(state.node && { node: { ...state.node, status: { conditions: [{ type: 'Ready', status: 'False' as const }] } } }),
});
const going = (name: string): StateNode => aStateNode({ name, claimAnnotations: { 'spindrift.dev/disruption': 'x' } });

describe('the budgets of a pool', () => {
  it('allow a number of nodes, or a share of them rounded up', () => {
    expect(left([{ nodes: '3' }], nodesOf(25))).toBe(3);
    expect(left([{ nodes: '10%' }], nodesOf(25))).toBe(3);
    expect(left([{ nodes: '10%' }], nodesOf(1))).toBe(1);
    expect(left([{ nodes: '0%' }], nodesOf(25))).toBe(0);
  });

  it('allow what the tightest of them allows', () => {
    expect(left([{ nodes: '5' }, { nodes: '10%' }, { nodes: '90%' }], nodesOf(20))).toBe(2);
  });

  it('allow any number where none holds', () => {
    expect(left([], nodesOf(3))).toBe(Number.POSITIVE_INFINITY);
    const night = { nodes: '0', schedule: '0 22 * * *', duration: '8h' };
    expect(left([night], nodesOf(3))).toBe(Number.POSITIVE_INFINITY);
  });

  it('allow less while nodes go or are not ready', () => {
    const [first, ...others] = nodesOf(8);
    const nodes = [sick(first as StateNode), going('g'), ...others];
    expect(left([{ nodes: '3' }], nodes)).toBe(1);
    expect(left([{ nodes: '1' }], nodes)).toBe(0);
  });

  it('let the repair of sick nodes go on: those that are not ready do not count against it', () => {
    const [first, ...others] = nodesOf(8);
    expect(left([{ nodes: '2' }], [sick(first as StateNode), going('g'), ...others], 'Unhealthy')).toBe(1);
  });

  it('count nodes of the pool that are up, and no others', () => {
    const starting = aStateNode({ name: 's', labels: { 'karpenter.sh/initialized': 'false' } });
    const other = aStateNode({ name: 'o', pool: 'other' });
    const { claim: _, ...foreign } = aStateNode({ name: 'f' });
    expect(left([{ nodes: '100%' }], [...nodesOf(4), starting, other, foreign])).toBe(4);
  });

  it('hold for their reasons only, and for all where they name none', () => {
    const list: DisruptionBudget[] = [{ nodes: '0', reasons: ['Drifted'] }, { nodes: '2' }];
    expect(BUDGETED_REASONS.map((reason) => [reason, left(list, nodesOf(9), reason)])).toEqual([
      ['Underutilized', 2],
      ['Empty', 2],
      ['Drifted', 0],
      ['Unhealthy', 2],
      ['Expired', 2],
    ]);
  });

  it('cover what has expired only where they name no reason', () => {
    expect(
      left([{ nodes: '0', reasons: ['Drifted', 'Empty', 'Underutilized', 'Unhealthy'] }], nodesOf(9), 'Expired'),
    ).toBe(Number.POSITIVE_INFINITY);
  });

  it('allow nothing, and say why, when one cannot be read', () => {
    const wrong = { nodes: '5', schedule: '61 * * * *', duration: '1h' };
    expect(budgets([wrong], nodesOf(9)).of('general', 'Empty')).toMatchObject({
      allowed: 0,
      problem: expect.stringContaining('minute is 0 to 59, but it is 61'),
    });
  });

  it('say which of them is the tightest, and when that may change', () => {
    const night = { nodes: '0', schedule: '0 22 * * *', duration: '8h' };
    const list = [{ nodes: '50%' }, night];
    expect(budgets(list, nodesOf(4)).of('general', 'Empty')).toEqual({
      allowed: 2,
      limit: 2,
      disrupting: 0,
      budget: { nodes: '50%' },
      changesAt: at('2030-01-02T22:00:00Z'),
    });
    const asleep = budgets(list, nodesOf(4), at('2030-01-02T23:00:00Z'));
    expect(asleep.of('general', 'Empty')).toMatchObject({ allowed: 0, changesAt: at('2030-01-03T06:00:00Z') });
    expect(asleep.changesAt(['Empty', 'Drifted'])).toBe(at('2030-01-03T06:00:00Z'));
  });

  it('are used up by every node that is taken, whatever it is taken for', () => {
    const some = budgets([{ nodes: '3' }, { nodes: '1', reasons: ['Drifted'] }], nodesOf(9));
    some.take('general', 2);
    expect(some.left('general', 'Empty')).toBe(1);
    expect(some.left('general', 'Drifted')).toBe(0);
    some.take('general');
    expect(some.left('general', 'Empty')).toBe(0);
  });

  it('of a pool that does not exist allow nothing', () => {
    expect(budgets([], []).left('gone', 'Empty')).toBe(0);
  });
});

describe('the metrics of budgets', () => {
  it('show what is allowed and what is used up, with reasons in lower case, and forget pools that are gone', async () => {
    const metrics = new Metrics();
    const shown = new BudgetMetrics(metrics);
    const pool = aNodePool({ spec: { disruption: { budgets: [{ nodes: '2', reasons: ['Empty'] }] } } });
    shown.show([pool], new Budgets({ pools: [pool], nodes: [going('g'), ...nodesOf(3)], now: NOON }));
    const read = (name: string, reason: string) =>
      metrics.read(`karpenter_nodepools_${name}`, { nodepool: 'general', reason });
    expect(await read('allowed_disruptions', 'empty')).toBe(1);
    expect(await read('allowed_disruptions', 'drifted')).toBe(2147483647);
    expect(await read('nodes_consuming_budgets', 'drifted')).toBe(1);
    shown.show([], new Budgets({ pools: [], nodes: [], now: NOON }));
    expect(await read('allowed_disruptions', 'empty')).toBeUndefined();
  });
});
