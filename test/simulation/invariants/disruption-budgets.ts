/** No more nodes of a pool are disrupted at once, per reason, than its budgets allow. */
import { budgetWindow } from '../../../src/apis/karpenter/budget-window.ts';
import { isTrue } from '../../../src/apis/karpenter/conditions.ts';
import { LABEL_NODE_POOL } from '../../../src/apis/karpenter/labels.ts';
import type { NodeClaim } from '../../../src/apis/karpenter/node-claim.ts';
import type { NodePool } from '../../../src/apis/karpenter/node-pool.ts';
import { ANNOTATION_DISRUPTION } from '../../../src/apis/spindrift/annotations.ts';
import { readMark } from '../../../src/controllers/disruption/commands/mark.ts';
import type { EpochMs } from '../../../src/platform/clock.ts';
import type { InvariantMaker } from '../invariant.ts';

/** Longest time from a decision until it is written: with faults, the start is delayed and each call may hang. */
const DECIDED_MS = 60_000;

export const disruptionBudgets: InvariantMaker = (facts, broken) => {
  /** Recent node counts per pool, newest last. */
  const totals = new Map<string, { readonly at: number; readonly total: number }[]>();
  /** The pools before their edits, newest last. */
  const edited: { readonly at: number; readonly pool: NodePool }[] = [];
  return {
    written({ collection, object, previous }) {
      if (collection === 'nodepools.karpenter.sh' && previous !== undefined)
        edited.push({ at: facts.now, pool: previous as NodePool });
      if (collection !== 'nodeclaims.karpenter.sh') return;
      const pool = object.metadata.labels?.[LABEL_NODE_POOL] ?? '';
      // A claim may outlive its node while the API server refuses to delete it.
      const nodes = new Set(facts.nodes.map(({ metadata }) => metadata.name));
      const up = facts
        .claimsOf(pool)
        .filter((claim) => isTrue(claim, 'Initialized') && !isTrue(claim, 'InstanceTerminating'))
        .filter(({ status }) => nodes.has(status?.nodeName));
      const history = totals.get(pool) ?? [];
      history.push({ at: facts.now, total: up.length });
      while (history.length > 1 && (history[1]?.at ?? 0) < facts.now - DECIDED_MS) history.shift();
      totals.set(pool, history);
      const text = object.metadata.annotations?.[ANNOTATION_DISRUPTION];
      if (text === undefined || previous?.metadata.annotations?.[ANNOTATION_DISRUPTION] !== undefined) return;
      const found = facts.pools.find(({ metadata }) => metadata.name === pool);
      const mark = readMark(text);
      if (found === undefined || mark === undefined) return;
      const going = up.filter(({ metadata }) => metadata.annotations?.[ANNOTATION_DISRUPTION] !== undefined);
      const most = Math.max(...history.map(({ total }) => total));
      const before = edited.filter(({ at }) => at >= facts.now - DECIDED_MS).map((edit) => edit.pool);
      const known = [found, ...before.filter(({ metadata }) => metadata.name === pool)];
      const limit = Math.max(
        ...[mark.at, facts.now].flatMap((at) => known.map((each) => allowed(each, mark.reason, most, at as EpochMs))),
      );
      if (going.length > limit)
        broken(
          `${going.length} nodes of pool ${pool} go at once (${going.map(told).join('; ')}), and for ${mark.reason} its budgets allow ${limit} of ${most}`,
        );
    },
  };
};

function told({ metadata }: NodeClaim): string {
  return `${metadata.name}: ${metadata.annotations?.[ANNOTATION_DISRUPTION]}`;
}

/** The limit of the strictest active budget. */
function allowed(pool: NodePool, reason: string, total: number, at: EpochMs): number {
  const limits = pool.spec.disruption.budgets
    .filter(({ reasons = [] }) => reasons.length === 0 || (reasons as readonly string[]).includes(reason))
    .filter((budget) => budgetWindow(budget, at).active)
    .map(({ nodes }) => (nodes.endsWith('%') ? Math.ceil((total * Number.parseInt(nodes, 10)) / 100) : Number(nodes)));
  return Math.min(...limits);
}
