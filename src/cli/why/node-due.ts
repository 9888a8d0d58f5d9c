/** Tells whether a node has expired or drifted, and what blocks its replacement. */
import { isStaticPool } from '../../apis/karpenter/is-static-pool.ts';
import { type Candidate, candidateOf } from '../../controllers/disruption/candidate.ts';
import { driftedSince } from '../../controllers/disruption/drift.ts';
import { expiresAt } from '../../controllers/disruption/expiry.ts';
import type { Look } from '../../controllers/disruption/look.ts';
import { placeElsewhere, type Solve } from '../../controllers/disruption/place-elsewhere.ts';
import { unitsOf } from '../../controllers/disruption/unit.ts';
import { shortText, takeOfBudgets } from '../../controllers/disruption/within-budgets.ts';
import type { EpochMs } from '../../platform/clock.ts';
import { toTimestamp } from '../../platform/clock.ts';
import type { StateNode } from '../../state/state-node.ts';
import type { UsablePool } from '../../state/usable-pool.ts';

/** A replacement because of expiry or drift. */
export interface NodeDue {
  readonly reason: 'Expired' | 'Drifted';
  /** When it expires or drifted; can be in the future. */
  readonly at: string;
  /** The expireAfter of its claim, for Expired. */
  readonly expireAfter?: string;
  readonly isDue: boolean;
  /** What blocks the replacement, a clause without its full stop; absent where nothing does. */
  readonly keptBy?: string;
}

/** The inputs that the autoscaler decides on. */
export interface DueContext {
  /** The view of disruption methods; `hear` receives the reasons why nodes must stay. */
  look(hear: (why: string) => void): Look;
  readonly pools: readonly UsablePool[];
  readonly solve: Solve;
}

/** Undefined for a node that neither expires nor has drifted. */
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
  const judge = (other: StateNode) => candidateOf(other, 'eventual', look);
  const takes = ({ pool }: Candidate): boolean => !isStaticPool(pool);
  const [unit] = candidate === undefined ? [] : unitsOf([candidate], { look, reason, judge, takes });
  if (unit !== undefined) {
    const short = takeOfBudgets(unit, reason, look.budgets);
    if (short !== undefined) keptBy = shortText(short, unit, reason);
    else if (unit.candidates.some(({ pods }) => pods.length > 0)) {
      const blocked = (_: unknown, why: string): void => {
        keptBy ??= why;
      };
      await placeElsewhere([unit], { ...context, look, closed: [], blocked }, signal);
    }
  }
  return { ...due, isDue: true, ...(keptBy !== undefined && { keptBy }) };
}

/** The same as a sentence. */
export function nodeDueText({ reason, at, expireAfter, isDue, keptBy }: NodeDue): string {
  if (!isDue) return `It expires at ${at} (expireAfter ${expireAfter}) and is then replaced.`;
  const what =
    reason === 'Expired'
      ? `It expired at ${at} (expireAfter ${expireAfter})`
      : `It drifted from its NodePool or node class at ${at}`;
  return keptBy === undefined
    ? `${what}; its replacement should start within seconds.`
    : `${what}, but its replacement is blocked: ${keptBy}.`;
}
