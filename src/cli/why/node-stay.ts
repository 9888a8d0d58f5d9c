/** Tells whether consolidation would remove a node, or why not. */
import type { Budgets } from '../../controllers/disruption/budgets/budgets.ts';
import type { KeptCause } from '../../engine/consolidation/plan.ts';
import { toTimestamp } from '../../platform/clock.ts';
import type { ExpectedMove, Outlook } from '../outlook/outlook.ts';

/** The prediction for one node. */
export interface NodeStay {
  readonly outcome: 'goes' | 'stays';
  /** When its move starts: at once, once the new nodes of other moves are launched, or after other moves. */
  readonly begins?: ExpectedMove['begins'];
  /** A clause without its full stop. */
  readonly because: string;
  /** USD per hour that removing it saves, at most. */
  readonly saves: number;
  /** The reason why it stays, as data. */
  readonly cause?: KeptCause;
  /** The disruption budget that blocks its removal, in words. */
  readonly budget?: string;
}

/** Finds the node in the prediction for the fleet; undefined for an unknown node. */
export function nodeStay(node: string, { moves, stays }: Outlook, budgets: Budgets): NodeStay | undefined {
  const found = moves.find(({ move }) => move.nodes.includes(node));
  if (found !== undefined) {
    const { move, begins } = found;
    return { outcome: 'goes', begins, because: move.sentence, saves: move.savings };
  }
  const stay = stays.find((one) => one.node === node);
  if (stay === undefined) return undefined;
  const { cause, because, wouldSave } = stay;
  const budget = cause?.kind === 'pool-budget' ? budgetText(cause, budgets) : undefined;
  return {
    outcome: 'stays',
    because,
    saves: wouldSave,
    ...(cause === undefined ? {} : { cause }),
    ...(budget === undefined ? {} : { budget }),
  };
}

function budgetText({ pool, reason }: KeptCause & { kind: 'pool-budget' }, budgets: Budgets): string {
  const { budget, disrupting, changesAt, problem } = budgets.of(pool, reason);
  const { total } = budgets.nodesOf(pool);
  const schedule = budget?.schedule === undefined ? '' : ` (${budget.schedule} for ${budget.duration})`;
  const which = `The tightest disruption budget of pool ${pool} allows ${budget?.nodes} of ${total} nodes${schedule}, and ${disrupting} are being disrupted already`;
  const wrong = problem === undefined ? '' : `; it is invalid: ${problem}`;
  return `${which}${wrong}${changesAt === undefined ? '' : `; the next change is at ${toTimestamp(changesAt)}`}`;
}
