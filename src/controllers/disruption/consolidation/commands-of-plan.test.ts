import { describe, expect, it } from 'vitest';
import type { DisruptionBudget } from '../../../apis/karpenter/node-pool.ts';
import { aNodePool } from '../../../apis/karpenter/testkit/a-node-pool.ts';
import type { Move } from '../../../engine/consolidation/plan.ts';
import { finish } from '../../../engine/packing/work.ts';
import { buildFleet } from '../../../state/build-fleet.ts';
import { aFleetSnapshot, aRunningPod, MACHINES } from '../../../state/testkit/a-fleet-snapshot.ts';
import { aStateNode, ON_DEMAND, SPOT } from '../../../state/testkit/a-state-node.ts';
import { commandsOfPlan } from './commands-of-plan.ts';
import { launchWaits } from './launch-waits.ts';
import { NO_POLICIES, plannedFleet } from './testkit/planned-fleet.ts';

const LARGE = { ...ON_DEMAND, instanceType: 'm5.2xlarge', price: 0.4 };
const ALLOCATABLE = { cpu: '8', memory: '32Gi', pods: '29' };

const poolWith = (...budgets: DisruptionBudget[]) => [aNodePool({ spec: { disruption: { budgets } } })];

describe('the commands of a plan', () => {
  it('delete a node whose pods have room on another', () => {
    const nodes = [aStateNode({ name: 'a' }), aStateNode({ name: 'b' })];
    const pods = [aRunningPod('web-1', 'a'), aRunningPod('web-2', 'b'), aRunningPod('web-3', 'b')];
    const { now, later } = plannedFleet(aFleetSnapshot({ nodes, pods }));
    expect(later).toEqual([]);
    expect(now.map(({ command }) => command)).toMatchObject([
      {
        id: 'command-0',
        reason: 'Underutilized',
        disruption: 'graceful',
        newNodes: [],
        receivers: ['b'],
        candidates: [
          { state: { name: 'a' }, claim: { metadata: { name: 'a' } }, pods: [{ metadata: { name: 'web-1' } }] },
        ],
      },
    ]);
  });

  it('replace a node by a cheaper one of the pool it may come from', () => {
    const nodes = [aStateNode({ name: 'a', launched: LARGE, allocatable: ALLOCATABLE })];
    const { now } = plannedFleet(aFleetSnapshot({ nodes, pods: [aRunningPod('web-1', 'a')] }));
    const [only] = now;
    expect(only?.command.newNodes).toHaveLength(1);
    const [{ pool, node } = {}] = only?.command.newNodes ?? [];
    expect([pool?.metadata.name, node?.pool]).toEqual(['general', 'general']);
    expect(node?.offerings[0]).toMatchObject({ instanceType: 'm5.large', capacityType: 'spot' });
    expect(only?.command.receivers).toEqual([]);
    expect(only?.move.savings).toBeCloseTo(0.37);
  });

  it('are no more than the budgets allow, whatever the reasons of the moves', () => {
    const nodes = ['a', 'b', 'c', 'd'].map((name) => aStateNode({ name }));
    const pods = [aRunningPod('web-1', 'a'), aRunningPod('web-2', 'b')];
    const nodePools = poolWith({ nodes: '2' });
    const { now, later, plan } = plannedFleet(aFleetSnapshot({ nodes, pods, nodePools }));
    expect(plan.moves).toHaveLength(3);
    expect(now).toHaveLength(2);
    expect(later).toHaveLength(1);
  });

  it('have policies asked only about moves that there is a budget for, as those count what they allow as done', () => {
    const nodes = ['a', 'b', 'c', 'd'].map((name) => aStateNode({ name }));
    const nodePools = poolWith({ nodes: '2' });
    const asked: (readonly string[])[] = [];
    const { now } = plannedFleet(aFleetSnapshot({ nodes, nodePools }), {
      ...NO_POLICIES,
      settle: (move) => {
        asked.push(move.nodes);
        return move;
      },
    });
    expect(asked).toEqual(now.map(({ move }) => move.nodes));
    expect(asked).toHaveLength(2);
  });

  it('have a move that lands on the new node of another follow it, if that one is done', () => {
    const nodes = [aStateNode({ name: 'a' }), aStateNode({ name: 'b' })];
    const snapshot = aFleetSnapshot({ nodes, pods: [aRunningPod('web-1', 'a'), aRunningPod('web-2', 'b')] });
    const built = buildFleet(snapshot);
    const move: Move = {
      ...{
        kind: 'delete',
        reason: 'Underutilized',
        nodes: ['a'],
        newNodes: [],
        savings: 1,
        disruptionCost: 2,
        score: 0.5,
      },
      landings: [{ pod: 'default/web-1', move: 0, newNode: 0 }],
      sentence: '',
    };
    const { now, later } = plannedFleet(snapshot);
    expect([now.length, later.length]).toEqual([1, 0]);
    const parts = { candidate: () => now[0]?.command.candidates[0], poolNamed: new Map(), newId: () => 'x' };
    const budgets = { left: () => 9, take: () => {} } as never;
    const own = finish(commandsOfPlan([move], built, { ...parts, ...NO_POLICIES, budgets }));
    const others = finish(
      commandsOfPlan([{ ...move, landings: [] }, move, move], built, { ...parts, ...NO_POLICIES, budgets }),
    );
    expect([own.now.length, own.later.length]).toEqual([1, 0]);
    expect([others.now.length, others.next.length, others.later.length]).toEqual([1, 2, 0]);
    expect(others.next.map(({ follows }) => follows)).toEqual([1, 2].map(() => [others.now[0]?.command]));
    const alone = finish(
      commandsOfPlan([{ ...move, nodes: ['gone'], landings: [] }, move], built, {
        ...parts,
        ...NO_POLICIES,
        budgets,
        candidate: (name) => (name === 'gone' ? undefined : parts.candidate()),
      }),
    );
    expect([alone.now.length, alone.next.length, alone.later.length]).toEqual([0, 0, 2]);
  });
});

describe('a launch', () => {
  const types = [
    {
      ...(MACHINES[0] as (typeof MACHINES)[number]),
      offerings: [{ zone: 'z', capacityType: 'reserved' as const, price: 0.0001, reservationId: 'r', slots: 1 }],
    },
    ...MACHINES.slice(1),
  ];
  const onto = (offering: object, pool = 'general'): Move =>
    ({ newNodes: [{ pool, offerings: [offering] }] }) as unknown as Move;
  const reserved = { ...SPOT, zone: 'z', capacityType: 'reserved', reservationId: 'r' };

  it('waits when the reservation has no slot left for it', () => {
    const waits = launchWaits({ instanceTypes: types, pools: [] });
    expect([waits(onto(reserved)), waits(onto(reserved))]).toEqual([false, true]);
    expect(waits(onto(SPOT))).toBe(false);
  });

  it('waits when its pool would go over its limit', () => {
    const pools = [{ name: 'general', limits: { cpu: 10_000, nodes: 3 }, usage: { cpu: 4000, nodes: 1 } }];
    const waits = launchWaits({ instanceTypes: MACHINES, pools });
    const xlarge = { ...SPOT, instanceType: 'm5.xlarge' };
    expect([waits(onto(xlarge)), waits(onto(xlarge)), waits(onto(SPOT)), waits(onto(SPOT))]).toEqual([
      ...[false, true, false, true],
    ]);
    expect(waits(onto(xlarge, 'other'))).toBe(false);
  });
});
