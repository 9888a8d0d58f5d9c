/** Checks a plan's figures about its moves: kind, cost, score, the savings left if launches fall back, and balance. */
import type { ConsolidationOptions, Fleet, FleetNode } from '../../consolidation/fleet.ts';
import type { ConsolidationPlan, Move } from '../../consolidation/plan.ts';
import type { Report, Violation } from '../violation.ts';

const ROUNDING = 1e-6;

/** Checks the figures of all moves. */
export function verifyMoveFigures(
  fleet: Fleet,
  plan: ConsolidationPlan,
  options: ConsolidationOptions = {},
): Violation[] {
  const violations: Violation[] = [];
  const report: Report = (rule, subject, detail) => void violations.push({ rule, subject, detail });
  for (const [index, move] of plan.moves.entries()) {
    const subject = `move ${index}`;
    const gone = fleet.nodes.filter(({ name }) => move.nodes.includes(name));
    const price = gone.reduce((sum, node) => sum + node.price, 0);
    const kind = kindOf(move);
    if (move.kind !== kind) report('savings', subject, `is called ${move.kind}, it is a ${kind}`);
    const cost = disruptionOf(fleet, gone);
    if (Math.abs(cost - move.disruptionCost) > ROUNDING)
      report('savings', subject, `says it costs ${move.disruptionCost}, it is ${cost}`);
    if (Math.abs(move.score - move.savings / cost) > ROUNDING)
      report('savings', subject, `has a score of ${move.score}`);
    if (move.reason !== 'Empty' && move.savings < (options.minSavingsPerDisruption ?? 0) * cost - ROUNDING)
      report('savings', subject, `saves ${move.savings} for a disruption of ${cost}`);
    checkFallbacks(move, price, options, subject, report);
    checkBalance(fleet, gone, move, options, subject, report);
  }
  return violations;
}

function kindOf({ nodes, newNodes }: Move): Move['kind'] {
  if (newNodes.length === 0) return 'delete';
  return newNodes.length < nodes.length ? 'merge' : newNodes.length > nodes.length ? 'split' : 'replace';
}

function disruptionOf(fleet: Fleet, nodes: readonly FleetNode[]): number {
  const names = new Set(nodes.map(({ name }) => name));
  const pods = fleet.pods.filter(({ node }) => names.has(node));
  return pods.reduce((sum, { evictionCost = 1 }) => sum + Math.max(0, evictionCost), nodes.length);
}

/** The move must be worth it even if every launch uses the most expensive offering of its list. */
function checkFallbacks(
  move: Move,
  price: number,
  { minSavings = 0, minSavingsShare = 0.05 }: ConsolidationOptions,
  subject: string,
  report: Report,
): void {
  if (move.newNodes.length === 0) return;
  const dearest = move.newNodes.reduce((sum, { offerings }) => sum + Math.max(...offerings.map((one) => one.price)), 0);
  const wanted = Math.max(minSavings, minSavingsShare * price);
  if (price - dearest < wanted - ROUNDING)
    report('alternatives', subject, `saves only ${price - dearest} with its dearest offerings, ${wanted} is wanted`);
}

/** Only judged if all removed nodes are of one Balanced pool. Empty nodes are removed whatever they save, as with upstream's emptiness. */
function checkBalance(
  fleet: Fleet,
  gone: readonly FleetNode[],
  { savings, reason }: Move,
  { balancedScore = 0.5 }: ConsolidationOptions,
  subject: string,
  report: Report,
): void {
  const [pool, ...others] = new Set(gone.map((node) => node.pool));
  const balanced = fleet.poolDisruption.some((entry) => entry.pool === pool && entry.policy === 'Balanced');
  if (!balanced || others.length > 0 || reason === 'Empty') return;
  const all = fleet.nodes.filter((node) => node.pool === pool);
  const total = all.reduce((sum, node) => sum + node.price, 0);
  if (total === 0) return;
  const score = savings / total / (disruptionOf(fleet, gone) / disruptionOf(fleet, all));
  if (score < balancedScore - ROUNDING) report('savings', subject, `a score of ${score} in a Balanced pool`);
}
