import { describe, expect, it } from 'vitest';
import { aNodePool } from '../../apis/karpenter/testkit/a-node-pool.ts';
import { Budgets } from '../../controllers/disruption/budgets/budgets.ts';
import { type EpochMs, parseTimestamp } from '../../platform/clock.ts';
import type { FleetSnapshot } from '../../state/build-fleet.ts';
import { hasJustComeUp } from '../../state/nominations.ts';
import {
  aFleetSnapshot,
  aPodBudget,
  aRunningPod,
  type FleetSnapshotParts,
} from '../../state/testkit/a-fleet-snapshot.ts';
import { aStateNode } from '../../state/testkit/a-state-node.ts';
import { outlook } from '../outlook/outlook.ts';
import { NO_POLICIES } from '../outlook/testkit/no-policies.ts';
import { type NodeStay, nodeStay } from './node-stay.ts';
import { nodeWhy } from './node-why.ts';
import { nodeWhyText } from './node-why-text.ts';

const TWO: FleetSnapshotParts = {
  nodes: [aStateNode({ name: 'a' }), aStateNode({ name: 'b' })],
  pods: [aRunningPod('1', 'a'), aRunningPod('2', 'b'), aRunningPod('3', 'b')],
};

function stay(node: string, parts: FleetSnapshotParts): NodeStay | undefined {
  const base = aFleetSnapshot(parts);
  const budgets = new Budgets({ pools: base.nodePools, nodes: base.nodes, now: base.now });
  const allowed: FleetSnapshot['allowed'] = (pool) => ({ Underutilized: budgets.left(pool, 'Underutilized') });
  const found = outlook({ ...base, allowed }, { policies: NO_POLICIES, limits: {} });
  return nodeStay(node, found, budgets);
}

const withStay = (found: ReturnType<typeof nodeStay>) => (found === undefined ? {} : { stay: found });

function text(node: string, parts: FleetSnapshotParts): string {
  const why = nodeWhy(aStateNode({ name: node }));
  return why === undefined ? '' : nodeWhyText(why, withStay(stay(node, parts)));
}

describe('why a node is still there', () => {
  it('is that it is about to go, and what that saves', () => {
    expect(text('a', TWO)).toContain(
      'Consolidation would remove it: delete node a: saves $0.0300 per hour, 1 eviction.',
    );
  });

  it('is that its pods cost as much anywhere else', () => {
    expect(text('b', TWO)).toMatch(/It is not consolidated: .*\. Removing it would save at most \$0\.0\d+ an hour\./);
  });

  it('is the pod that must not be disrupted', () => {
    const pods = [
      aRunningPod('1', 'a', { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } }),
      ...(TWO.pods ?? []),
    ];
    expect(text('a', { ...TWO, pods: pods.slice(0, 1).concat(pods.slice(2)) })).toContain(
      'It is not consolidated: pod default/1 must not be disrupted.',
    );
  });

  it('is the daemon that must not be disrupted', () => {
    const daemon = aRunningPod('agent', 'a', {
      annotations: { 'karpenter.sh/do-not-disrupt': 'true' },
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: 'agent' }],
    });
    expect(text('a', { ...TWO, pods: [...(TWO.pods ?? []), daemon] })).toContain(
      'It is not consolidated: pod default/agent must not be disrupted.',
    );
  });

  it('is the PodDisruptionBudget that allows no eviction', () => {
    expect(text('a', { ...TWO, disruptionBudgets: [aPodBudget(0)] })).toContain(
      'PodDisruptionBudget default/web allows 0 evictions now, too few to evict pod default/1',
    );
  });

  it('is the budget of its pool, which one, and when that changes', () => {
    const night = { nodes: '0', schedule: '0 0 * * *', duration: '8h' };
    const nodePools = [aNodePool({ spec: { disruption: { budgets: [night, { nodes: '100%' }] } } })];
    expect(text('a', { ...TWO, nodePools })).toContain(
      'The tightest disruption budget of pool general allows 0 of 2 nodes (0 0 * * * for 8h), and 0 are being disrupted already; the next change is at 2030-01-02T08:00:00Z.',
    );
  });

  it('is consolidateAfter, and until when', () => {
    const now = parseTimestamp('2030-01-01T00:00:30Z') as EpochMs;
    const nodePools = [aNodePool({ spec: { disruption: { consolidateAfter: '1m' } } })];
    expect(text('a', { ...TWO, nodePools, now })).toContain(
      'It is not consolidated: its pods changed less than 1m ago, the consolidateAfter of pool general: not before 2030-01-01T00:01:00Z.',
    );
    const never = [aNodePool({ spec: { disruption: { consolidateAfter: 'Never' } } })];
    expect(text('a', { ...TWO, nodePools: never })).toContain('consolidateAfter of pool general is Never');
  });

  it.each([
    [{ 'spindrift.dev/interruption': 'spot-interruption' }, 'its cloud interrupts it already (spot-interruption).\n'],
    [
      {
        'spindrift.dev/interruption': 'spot-interruption',
        'spindrift.dev/interruption-deadline': '2030-01-02T00:02:00Z',
      },
      'its cloud interrupts it already (spot-interruption, at 2030-01-02T00:02:00Z).\n',
    ],
    [
      { 'spindrift.dev/disruption': 'id=x reason=Drifted at=2030-01-01T00:00:00Z needs=general/new-1' },
      'it is being disrupted already (Drifted), once its replacements new-1 are ready',
    ],
  ])('is that it goes already, and why: %j', (claimAnnotations, said) => {
    const nodes = [aStateNode({ name: 'a', claimAnnotations }), aStateNode({ name: 'b' })];
    expect(text('a', { ...TWO, nodes })).toContain(said);
  });

  it('is that it has just initialized, and its pods may not run yet', () => {
    const now = parseTimestamp('2030-01-01T00:00:10Z') as EpochMs;
    expect(
      text('a', { ...TWO, now, isNominated: ({ claim }) => claim !== undefined && hasJustComeUp(claim, now) }),
    ).toContain('It is not consolidated: it has just initialized, and the pods it was launched for may not run yet.');
  });

  it('is that somebody has cordoned it', () => {
    const nodes = [aStateNode({ name: 'a', node: { unschedulable: true } }), aStateNode({ name: 'b' })];
    expect(text('a', { ...TWO, nodes })).toContain('it is cordoned');
  });

  it('is unknown for a node that is not there', () => {
    expect(stay('c', TWO)).toBeUndefined();
  });
});
