/** Whether a node has to be replaced because it is too old or has drifted, and what keeps it where it should have gone, as data. */

import { driftedSince } from '../../controllers/disruption/drift.ts';
import { expiresAt } from '../../controllers/disruption/expiry.ts';
import type { Look } from '../../controllers/disruption/look.ts';
import { placeElsewhere, type Solve } from '../../controllers/disruption/place-elsewhere.ts';
import type { EpochMs } from '../../platform/clock.ts';
import { toTimestamp } from '../../platform/clock.ts';
import { poolOf, type StateNode } from '../../state/state-node.ts';
import type { UsablePool } from '../../state/usable-pool.ts';

/** A replacement that time or a change brings about. */
export interface NodeDue {
  readonly reason: 'Expired' | 'Drifted';
  /** From when on it has to be replaced, which may be still to come. */
  readonly at: string;
  /** The expireAfter of its claim, where that is the reason. */
  readonly expireAfter?: string;
  readonly isDue: boolean;
  /** Why it is still there, a clause without its end; absent where nothing keeps it. */
  readonly keptBy?: string;
}

/** What the autoscaler would look at. */
export interface DueContext {
  /** A look that says why nodes have to stay. */
  look(hear: (why: string) => void): Look;
  readonly pools: readonly UsablePool[];
  readonly solve: Solve;
}

/** Undefined for a node that lives for ever and is what its pool asks for. */
export async function nodeDue(
  state: StateNode,
  context: DueContext,
  signal: AbortSignal,
): Promise<NodeDue | undefined> {
  let keptBy: string | undefined;
  const look = context.look((why) => {
    keptBy ??= why;
  });
  const drifted = driftedSince(state);
  const expires = expiresAt(state);
  const reason = drifted !== undefined && !(expires !== undefined && expires <= look.now) ? 'Drifted' : 'Expired';
  const since = reason === 'Drifted' ? drifted : expires;
  if (since === undefined) return undefined;
  const { expireAfter } = state.claim?.spec ?? {};
  const due = {
    reason,
    at: toTimestamp(since as EpochMs),
    ...(reason === 'Expired' && expireAfter !== undefined && { expireAfter }),
  } as const;
  if (since > look.now) return { ...due, isDue: false };
  const candidate = look.candidate(state, 'eventual');
  if (candidate !== undefined) {
    const pool = poolOf(state) ?? '';
    if (look.budgets.left(pool, reason) < 1)
      keptBy = `the budgets of pool ${pool} let no more nodes go for the reason ${reason} now`;
    else if (candidate.pods.length > 0) {
      const blocked = (_: unknown, why: string): void => {
        keptBy ??= why;
      };
      await placeElsewhere([candidate], { ...context, look, closed: [], blocked }, signal);
    }
  }
  return { ...due, isDue: true, ...(keptBy !== undefined && { keptBy }) };
}

/** The same for people: a sentence. */
export function nodeDueText({ reason, at, expireAfter, isDue, keptBy }: NodeDue): string {
  if (!isDue) return `It is replaced at ${at}, when its expireAfter of ${expireAfter} is over.`;
  const what =
    reason === 'Expired'
      ? `It should have been replaced at ${at}, when its expireAfter of ${expireAfter} was over`
      : `It should be replaced, because since ${at} it is not what its pool asks for any more`;
  return keptBy === undefined
    ? `${what}: nothing keeps it, so that this should begin within seconds.`
    : `${what}, but it stays: ${keptBy}.`;
}
