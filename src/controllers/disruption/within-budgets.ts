import { isInFlight } from '../../state/state-node.ts';
import type { Candidate } from './candidate.ts';
import type { CommandReason } from './commands/command.ts';
import type { Look } from './look.ts';

/** As many of the candidates, first ones first, as the budgets of their pools allow; these have that much less then. */
export function withinBudgets(candidates: readonly Candidate[], reason: CommandReason, look: Look): Candidate[] {
  const { budgets } = look;
  return candidates.filter(({ pool, state }) => {
    // A node that never came up counts in no budget.
    if (isInFlight(state)) return true;
    const name = pool.metadata.name ?? '';
    if (budgets.left(name, reason) >= 1) {
      budgets.take(name);
      return true;
    }
    look.refusePool(pool, `its budgets let no more nodes go for the reason ${reason} now`);
    return false;
  });
}

/** The candidates do not go: what they took of the budgets is there for others. */
export function giveBack(candidates: readonly Candidate[], { budgets }: Look): void {
  for (const { pool, state } of candidates) if (!isInFlight(state)) budgets.take(pool.metadata.name ?? '', -1);
}
