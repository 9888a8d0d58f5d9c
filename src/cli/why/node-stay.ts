/** Whether consolidation would take a node away, and if not, what keeps it, as data. */
import type { Budgets } from '../../controllers/disruption/budgets/budgets.ts';
import type { KeptCause } from '../../engine/consolidation/plan.ts';
import { toTimestamp } from '../../platform/clock.ts';
import type { ExpectedMove, Outlook } from '../outlook/outlook.ts';

/** What becomes of the node. */
export interface NodeStay {
  readonly outcome: 'goes' | 'stays';
  /** When it goes: at once, as soon as the nodes of others are on their way, or when others are done. */
  readonly begins?: ExpectedMove['begins'];
  /** A clause without its end. */
  readonly because: string;
  /** USD per hour that its end saves, at most. */
  readonly saves: number;
  /** Why it stays, as data. */
  readonly cause?: KeptCause;
  /** The budget of its pool that keeps it, in words. */
  readonly budget?: string;
}

/** What the outlook for the whole fleet says of one node; undefined for a node it does not know. */
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
  const which = `The tightest budget of pool ${pool} is ${budget?.nodes} of ${total} nodes${schedule}, and ${disrupting} use it already`;
  const wrong = problem === undefined ? '' : `; it cannot be read, because ${problem}`;
  return `${which}${wrong}${changesAt === undefined ? '' : `; that changes at ${toTimestamp(changesAt)}`}`;
}
