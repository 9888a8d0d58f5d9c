/** Whether consolidation would take a node away, and if not, what keeps it, as data. */
import type { Budgets } from '../../controllers/disruption/budgets/budgets.ts';
import { consolidate } from '../../engine/consolidation/consolidate.ts';
import type { KeptCause } from '../../engine/consolidation/plan.ts';
import { toTimestamp } from '../../platform/clock.ts';
import { buildFleet, type FleetSnapshot } from '../../state/build-fleet.ts';

/** What becomes of the node. */
export interface NodeStay {
  readonly outcome: 'goes' | 'stays';
  /** A clause without its end. */
  readonly because: string;
  /** USD per hour that its end saves, at most. */
  readonly saves: number;
  /** Why it stays, as data. */
  readonly cause?: KeptCause;
  /** The budget of its pool that keeps it, in words. */
  readonly budget?: string;
}

/** As much looking as one waits for. */
const STEPS = 100_000_000;

/** Asks consolidation about the whole fleet, as it decides about all nodes at once; undefined for a node it does not know. */
export function nodeStay(node: string, snapshot: FleetSnapshot, budgets: Budgets): NodeStay | undefined {
  const { moves, kept } = consolidate(buildFleet(snapshot).fleet, { evictInTurns: true, maxSteps: STEPS });
  const move = moves.find(({ nodes }) => nodes.includes(node));
  if (move !== undefined) return { outcome: 'goes', because: move.sentence, saves: move.savings };
  const stay = kept.find((one) => one.node === node);
  if (stay === undefined) return undefined;
  const { cause, sentence, wouldSave } = stay;
  const because = sentence.replace(/^node \S+ stays: /, '');
  const budget = cause.kind === 'pool-budget' ? budgetText(cause, budgets) : undefined;
  return { outcome: 'stays', because, saves: wouldSave, cause, ...(budget === undefined ? {} : { budget }) };
}

function budgetText({ pool, reason }: KeptCause & { kind: 'pool-budget' }, budgets: Budgets): string {
  const { budget, disrupting, changesAt, problem } = budgets.of(pool, reason);
  const { total } = budgets.nodesOf(pool);
  const schedule = budget?.schedule === undefined ? '' : ` (${budget.schedule} for ${budget.duration})`;
  const which = `The tightest budget of pool ${pool} is ${budget?.nodes} of ${total} nodes${schedule}, and ${disrupting} use it already`;
  const wrong = problem === undefined ? '' : `; it cannot be read, because ${problem}`;
  return `${which}${wrong}${changesAt === undefined ? '' : `; that changes at ${toTimestamp(changesAt)}`}`;
}
