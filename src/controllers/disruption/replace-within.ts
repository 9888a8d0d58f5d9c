/**
 * Plans the replacement of nodes that must go, whatever that costs, as far as budgets and places for their pods allow, and within
 * policies where that can be.
 */
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import type { EventRecorder } from '../../kube/event-recorder.ts';
import type { StateNode } from '../../state/state-node.ts';
import { spotPolicyNotKept } from '../spot-policy/events.ts';
import type { SpotPolicies } from '../spot-policy/spot-policies.ts';
import type { BackOff } from './back-off.ts';
import type { Candidate } from './candidate.ts';
import type { Command, CommandReason } from './commands/command.ts';
import { keepOnDemand } from './keep-on-demand.ts';
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

/** What it is planned with. */
export interface ReplaceWithinOptions {
  readonly backOff: BackOff;
  readonly solve: Solve;
  readonly policies: Pick<SpotPolicies, 'for'>;
  readonly recorder: EventRecorder;
}

/** Nodes without another place use no budget up: so many times at most others are tried in their stead in one look. */
const MOST_TRIES = 10;
/** So often a launch for a policy's sake may fail before nodes go without it. */
const MOST_LAUNCHES_IN_VAIN = 3;

export async function replaceWithin(
  due: DueReplacements,
  look: Look,
  { backOff, solve, policies, recorder }: ReplaceWithinOptions,
  signal: AbortSignal,
): Promise<Command[]> {
  const { reason, closed, repairs } = due;
  const keyOf = ({ metadata }: NodePool): string => supplyKey(metadata.name ?? '', reason);
  const supply = (pool: NodePool): number => backOff.leftMs(keyOf(pool));
  const failures = (candidate: Candidate): number => backOff.failures(candidateKey(candidate, reason));
  let waiting = due.candidates
    .filter(({ claim }) => !look.isStuck(claim))
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
      const willing = pools.filter(({ pool }) => backOff.failures(keyOf(pool)) < MOST_LAUNCHES_IN_VAIN);
      const kept = await keepOnDemand(placement, { look, pools: willing, policies, solve }, signal);
      for (const { pool: name, sentence } of kept.gaps) {
        const pool = look.poolNamed.get(name);
        if (pool !== undefined) recorder.record(spotPolicyNotKept(pool, sentence));
      }
      return splitPlacement(kept, {
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
