/**
 * Plans replacements at any price, within the budgets and as far as there is room for the pods. SpotPolicies are kept where that is
 * possible.
 */
import { isStaticPool } from '../../apis/karpenter/is-static-pool.ts';
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import type { EventRecorder } from '../../kube/event-recorder.ts';
import type { StateNode } from '../../state/state-node.ts';
import { spotPolicyNotKept } from '../spot-policy/events.ts';
import type { SpotPolicies } from '../spot-policy/spot-policies.ts';
import type { BackOff } from './back-off.ts';
import type { Candidate, Refusal } from './candidate.ts';
import type { Command, CommandReason } from './commands/command.ts';
import { keepOnDemand } from './keep-on-demand.ts';
import type { Look } from './look.ts';
import { placeElsewhere, type Solve } from './place-elsewhere.ts';
import { poolBackOffKey } from './pool-back-off-key.ts';
import { splitPlacement } from './split-placement.ts';
import { type Unit, type UnitOptions, unitsAmong, unitsOf } from './unit.ts';
import { giveBack, recordLargeGroups, withinBudgets } from './within-budgets.ts';

/** Nodes that must be replaced. */
export interface DueReplacements {
  /** In the order of replacement. */
  readonly candidates: readonly Candidate[];
  readonly reason: CommandReason;
  /** Nodes that receive no pods. */
  readonly closed: readonly StateNode[];
  readonly repairs?: Command['repairs'];
  /**
   * Judges another node of a group, which need not be replaced itself: a candidate is replaced with the group, a refusal keeps the whole
   * group, undefined leaves the node out. Default: only nodes that must be replaced are replaced together.
   */
  companion?(state: StateNode): Candidate | Refusal | undefined;
}

/** What replacements are planned with. */
export interface ReplaceWithinOptions {
  readonly backOff: BackOff;
  readonly solve: Solve;
  readonly policies: Pick<SpotPolicies, 'for'>;
  readonly recorder: EventRecorder;
}

/** Attempts per look: nodes whose pods have no other place give their budget to the next ones. */
const MOST_TRIES = 10;
/** Failed launches after which nodes are replaced without keeping the SpotPolicy. */
const MOST_LAUNCHES_IN_VAIN = 3;

export async function replaceWithin(
  due: DueReplacements,
  look: Look,
  { backOff, solve, policies, recorder }: ReplaceWithinOptions,
  signal: AbortSignal,
): Promise<Command[]> {
  const { reason, closed, repairs } = due;
  const keyOf = ({ metadata }: NodePool): string => poolBackOffKey(metadata.name ?? '', reason);
  const supply = (pool: NodePool): number => backOff.leftMs(keyOf(pool));
  const failures = (candidate: Candidate): number => backOff.failures(candidateKey(candidate, reason));
  const heads = due.candidates
    .filter(({ claim }) => !look.isStuck(claim))
    .filter(({ pool, pods }) => pods.length === 0 || supply(pool) === 0)
    .filter((candidate) => backOff.leftMs(candidateKey(candidate, reason)) === 0)
    // Nodes with failed attempts come after those without.
    .sort((a, b) => failures(a) - failures(b));
  let waiting = unitsOf(heads, {
    ...{ look, reason, judge: companionsOf(due) },
    // After a failed attempt for the whole group, only its nodes that must be replaced go.
    takes: (candidate, first) =>
      !isStaticPool(candidate.pool) &&
      (failures(first) === 0 || due.candidates.some(({ state }) => state.name === candidate.state.name)),
  });
  const blocked = ({ candidates, first }: Unit, why: string): void => {
    for (const candidate of candidates) backOff.failed(candidateKey(candidate, reason));
    look.refuse({ refused: first.state, why });
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
      recordLargeGroups(unitsAmong(kept.candidates), reason, look, recorder);
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
    waiting = waiting.filter((unit) => !chosen.includes(unit));
  }
  return [];
}

/** Decides about the other nodes of a group: a node that must be replaced is a candidate, `companion` decides about the rest. */
export function companionsOf({ candidates, companion }: DueReplacements): UnitOptions['judge'] {
  const byName = new Map(candidates.map((candidate) => [candidate.state.name, candidate]));
  return (state) => byName.get(state.name) ?? companion?.(state);
}

function candidateKey({ claim }: Candidate, reason: CommandReason): string {
  return `claim/${claim.metadata.uid}/${reason}`;
}
