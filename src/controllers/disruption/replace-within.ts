/** Plans the replacement of nodes that must go, whatever that costs, as far as budgets and places for their pods allow. */
import type { StateNode } from '../../state/state-node.ts';
import type { BackOff } from './back-off.ts';
import type { Candidate } from './candidate.ts';
import type { Command, CommandReason } from './commands/command.ts';
import type { Look } from './look.ts';
import { placeElsewhere, type Solve } from './place-elsewhere.ts';
import { splitPlacement } from './split-placement.ts';
import { supplyKey } from './supply.ts';
import { withinBudgets } from './within-budgets.ts';

/** What must go. */
export interface DueReplacements {
  /** Those to be replaced first come first. */
  readonly candidates: readonly Candidate[];
  readonly reason: CommandReason;
  /** Nodes that must go too, sooner or later: nothing is moved to them. */
  readonly closed: readonly StateNode[];
  readonly graceMs?: Command['graceMs'];
}

export async function replaceWithin(
  { candidates, reason, closed, graceMs }: DueReplacements,
  look: Look,
  { backOff, solve }: { readonly backOff: BackOff; readonly solve: Solve },
  signal: AbortSignal,
): Promise<Command[]> {
  /** It had no other place, or the replacements of its pool failed. */
  const waits = (candidate: Candidate): boolean => {
    const pool = supplyKey(candidate.pool.metadata.name ?? '', reason);
    return (
      backOff.leftMs(candidateKey(candidate, reason)) > 0 || (candidate.pods.length > 0 && backOff.leftMs(pool) > 0)
    );
  };
  const chosen = withinBudgets(
    candidates.filter((candidate) => !waits(candidate)),
    reason,
    look,
  );
  if (chosen.length === 0) return [];
  const pools = (await look.pools(signal)).filter(
    ({ pool }) => backOff.leftMs(supplyKey(pool.metadata.name ?? '', reason)) === 0,
  );
  const blocked = (candidate: Candidate, why: string): void => {
    backOff.failed(candidateKey(candidate, reason));
    look.refuse({ refused: candidate.state, why });
  };
  const placement = await placeElsewhere(chosen, { look, pools, closed, solve, blocked }, signal);
  if (placement === undefined) return [];
  return splitPlacement(placement, {
    node: (name) => look.node(name),
    poolNamed: look.poolNamed,
    reason,
    disruption: 'eventual',
    newId: () => look.newId(),
    ...(graceMs === undefined ? {} : { graceMs }),
  });
}

function candidateKey({ claim }: Candidate, reason: CommandReason): string {
  return `claim/${claim.metadata.uid}/${reason}`;
}
