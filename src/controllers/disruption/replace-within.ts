/** Plans the replacement of nodes that must go, whatever that costs, as far as budgets and places for their pods allow. */
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import type { StateNode } from '../../state/state-node.ts';
import type { BackOff } from './back-off.ts';
import type { Candidate } from './candidate.ts';
import type { Command, CommandReason } from './commands/command.ts';
import type { Look } from './look.ts';
import { placeElsewhere, type Solve } from './place-elsewhere.ts';
import { splitPlacement } from './split-placement.ts';
import { supplyKey } from './supply.ts';
import { giveBack, withinBudgets } from './within-budgets.ts';

/** What must go. */
export interface DueReplacements {
  /** Those to be replaced first come first. */
  readonly candidates: readonly Candidate[];
  readonly reason: CommandReason;
  /** Nodes that nothing is moved to. */
  readonly closed: readonly StateNode[];
  readonly repairs?: Command['repairs'];
}

/** Nodes without another place use no budget up: so many times at most others are tried in their stead in one look. */
const MOST_TRIES = 10;

export async function replaceWithin(
  due: DueReplacements,
  look: Look,
  { backOff, solve }: { readonly backOff: BackOff; readonly solve: Solve },
  signal: AbortSignal,
): Promise<Command[]> {
  const { reason, closed, repairs } = due;
  const supply = (pool: NodePool): number => backOff.leftMs(supplyKey(pool.metadata.name ?? '', reason));
  const failures = (candidate: Candidate): number => backOff.failures(candidateKey(candidate, reason));
  let waiting = due.candidates
    .filter(({ pool, pods }) => pods.length === 0 || supply(pool) === 0)
    .filter((candidate) => backOff.leftMs(candidateKey(candidate, reason)) === 0)
    // Those that were tried in vain do not stand before those that were not.
    .sort((a, b) => failures(a) - failures(b));
  const blocked = (candidate: Candidate, why: string): void => {
    backOff.failed(candidateKey(candidate, reason));
    look.refuse({ refused: candidate.state, why });
  };
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const chosen = withinBudgets(waiting, reason, look);
    if (chosen.length === 0) return [];
    const pools = (await look.pools(signal)).filter(({ pool }) => supply(pool) === 0);
    const placement = await placeElsewhere(chosen, { look, pools, closed, solve, blocked }, signal);
    if (placement !== undefined) {
      return splitPlacement(placement, {
        node: (name) => look.node(name),
        poolNamed: look.poolNamed,
        reason,
        disruption: 'eventual',
        newId: () => look.newId(),
        ...(repairs === undefined ? {} : { repairs }),
      });
    }
    giveBack(chosen, look);
    waiting = waiting.filter((candidate) => !chosen.includes(candidate));
  }
  return [];
}

function candidateKey({ claim }: Candidate, reason: CommandReason): string {
  return `claim/${claim.metadata.uid}/${reason}`;
}
