import { describe, expect, it } from 'vitest';
import { aNodePool } from '../../apis/karpenter/testkit/a-node-pool.ts';
import {
  aFleetSnapshot,
  aPodBudget,
  aRunningPod,
  type FleetSnapshotParts,
  MACHINES,
} from '../../state/testkit/a-fleet-snapshot.ts';
import { aStateNode, ON_DEMAND } from '../../state/testkit/a-state-node.ts';
import { outlook } from '../outlook/outlook.ts';
import { NO_POLICIES } from '../outlook/testkit/no-policies.ts';
import { type ConsolidationReport, consolidationReport } from './consolidation-report.ts';
import { consolidationTable } from './consolidation-table.ts';

function report(parts: FleetSnapshotParts, notes: readonly string[] = []): ConsolidationReport {
  return consolidationReport(outlook(aFleetSnapshot(parts), { policies: NO_POLICIES, limits: {} }), notes);
}

const LARGE = { ...ON_DEMAND, instanceType: 'm5.2xlarge', price: 0.4 };
const MIXED: FleetSnapshotParts = {
  nodes: [
    aStateNode({ name: 'large', launched: LARGE, allocatable: { cpu: '8', memory: '32Gi', pods: '29' } }),
    aStateNode({ name: 'idle' }),
    aStateNode({ name: 'kept', annotations: { 'karpenter.sh/do-not-disrupt': 'true' } }),
  ],
  pods: [
    ...['1', '2', '3', '4', '5'].map((name) => aRunningPod(name, 'large')),
    ...['6', '7', '8', '9'].map((name) => aRunningPod(name, 'kept')),
  ],
  nodePools: [aNodePool({ spec: { disruption: { budgets: [] } } })],
};

describe('a plan of consolidation', () => {
  it('says as data what goes, what comes, what it saves and what stays', () => {
    const made = report(MIXED);
    expect(made.moves.flatMap(({ nodes }) => nodes).sort()).toEqual(['idle', 'large']);
    expect(made.saved.perHour).toBeCloseTo(made.price.before - made.price.after);
    expect(made.saved.perMonth).toBeCloseTo(made.saved.perHour * 730);
    expect(made.price.after).toBeGreaterThanOrEqual(made.price.lowerBound - 1e-9);
    expect(made.kept).toMatchObject([{ node: 'kept', because: 'it has the annotation karpenter.sh/do-not-disrupt' }]);
  });

  it('is a table for people, with the totals and why the others stay', () => {
    const said = consolidationTable(report(MIXED, ['pool gpu is not ready: no such class']));
    expect(said).toMatch(/MOVE +SAVES \$\/HOUR +REMOVED NODES +NEW NODES +EVICTIONS +STARTS/);
    expect(said).toMatch(/large +m5\.\w+ \(spot, sim-1a\)/);
    expect(said).toMatch(
      /\$0\.\d+ an hour becomes \$0\.\d+, which saves \$\d+\.\d+ a month\. No fleet for these pods costs less/,
    );
    expect(said).toMatch(/kept +\$0\.\d+ +it has the annotation karpenter\.sh\/do-not-disrupt/);
    expect(said).toContain('Note: pool gpu is not ready: no such class.');
  });

  it('prints no bound that its own table contradicts: what must stay now does not make these pods dearer', () => {
    const nodes = ['a', 'b', 'c'].map((name) =>
      aStateNode({ name, annotations: { 'karpenter.sh/do-not-disrupt': 'true' } }),
    );
    const pods = nodes.map(({ name }) => aRunningPod(`on-${name}`, name));
    const { price, kept } = report({ nodes, pods });
    expect(price.after).toBeCloseTo(0.09);
    const couldGo = kept.reduce((sum, { wouldSave }) => sum + wouldSave, 0);
    expect(couldGo).toBeGreaterThan(0.05);
    expect(price.lowerBound).toBeLessThanOrEqual(0.03);
    expect(price.lowerBound).toBeGreaterThan(0.01);
  });

  it('says what is paid, without the price of risk', () => {
    const risky = MACHINES.map((type) => ({
      ...type,
      offerings: type.offerings.map((one) => (one.capacityType === 'spot' ? { ...one, price: one.price * 1.5 } : one)),
    }));
    const nodePool = aNodePool({ spec: { disruption: { budgets: [] } } });
    const pools = [{ pool: nodePool, instanceTypes: risky, sold: MACHINES }];
    const made = report({ ...MIXED, nodePools: [nodePool], pools });
    const comes = made.moves.flatMap(({ newNodes }) => newNodes).reduce((sum, { price }) => sum + price, 0);
    const stays = 0.03;
    expect(made.price.after).toBeCloseTo(stays + comes);
    expect(made.price.lowerBound).toBeLessThanOrEqual(made.price.after);
  });

  it('says so when there is nothing to do', () => {
    const nodes = [aStateNode({ name: 'a' })];
    const said = consolidationTable(report({ nodes, pods: ['1', '2', '3'].map((name) => aRunningPod(name, 'a')) }));
    expect(said).toMatch(/^Consolidation would change nothing: \$0\.0300 an hour\./);
  });

  it('says once of nodes that stay for one reason what it is', () => {
    const nodes = ['a', 'b', 'c', 'd'].map((name) =>
      aStateNode({ name, annotations: { 'karpenter.sh/do-not-disrupt': 'true' } }),
    );
    expect(consolidationTable(report({ nodes }))).toMatch(
      /^a, b, c and 1 more +\$0\.0300 +it has the annotation karpenter\.sh\/do-not-disrupt$/m,
    );
  });

  it('lists no machines in its table that no pool has made', () => {
    const { claim: _, ...foreign } = aStateNode({ name: 'theirs', node: { unschedulable: true } });
    const { labels: __, ...metadata } = foreign.node.metadata;
    const nodes = [{ ...foreign, node: { ...foreign.node, metadata } }, aStateNode({ name: 'ours' })];
    const made = report({ nodes, pods: ['1', '2', '3'].map((name) => aRunningPod(name, 'ours')) });
    expect(made.kept.map(({ node, pool }) => [node, pool])).toEqual([
      ['theirs', null],
      ['ours', 'general'],
    ]);
    expect(consolidationTable(made)).not.toContain('theirs');
  });

  it('names the PodDisruptionBudget that keeps a node', () => {
    const nodes = [aStateNode({ name: 'a' }), aStateNode({ name: 'b' })];
    const pods = [aRunningPod('1', 'a'), aRunningPod('2', 'b')];
    const { kept } = report({ nodes, pods, disruptionBudgets: [aPodBudget(0)] });
    expect(kept.map(({ because }) => because).join()).toContain(
      'PodDisruptionBudget default/web allows 0 evictions now',
    );
  });
});
