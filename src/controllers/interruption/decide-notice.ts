/** Decides what a notice changes on the claim of its machine. Pure. */
import type { Notice, NoticeKind } from '../../cloud/notice.ts';
import type { EpochMs } from '../../platform/clock.ts';
import type { ClaimInterruption } from './interruption-of-claim.ts';

/** What a pool does after a rebalance recommendation. */
export type RebalanceAction = 'Event' | 'Cordon' | 'Replace';

/** The shortest warning of any cloud, assumed for a notice without a deadline. */
const SHORTEST_NOTICE_MS = 30_000;

/** From the least to the most severe. */
const SEVERITY: readonly NoticeKind[] = [
  'reservation-ending',
  'rebalance',
  'scheduled-maintenance',
  'spot-interruption',
  'reservation-interruption',
  'stopping',
  'preempted',
  'terminated',
];

/** The interruption to write on the claim; undefined if the notice adds nothing. */
export function decideNotice(
  notice: Notice,
  known: ClaimInterruption | undefined,
  onRebalance: RebalanceAction,
): ClaimInterruption | undefined {
  // The machine lives on as on-demand when its reservation ends.
  if (notice.kind === 'reservation-ending') return undefined;
  if (notice.kind === 'rebalance' && onRebalance !== 'Replace') return undefined;
  const worse = known === undefined || SEVERITY.indexOf(notice.kind) > SEVERITY.indexOf(known.kind);
  const kind = worse ? notice.kind : known.kind;
  const at = sooner(kind === notice.kind ? notice.at : undefined, worse ? undefined : known.at);
  const deadline = sooner(deadlineOf(notice), known?.deadline);
  if (!worse && deadline === known.deadline && at === known.at) return undefined;
  return { kind, ...(at !== undefined && { at }), ...(deadline !== undefined && { deadline }) };
}

function deadlineOf({ kind, at, deadline }: Notice): EpochMs | undefined {
  if (deadline !== undefined) return deadline;
  if (kind === 'spot-interruption' || kind === 'reservation-interruption') return (at + SHORTEST_NOTICE_MS) as EpochMs;
  return kind === 'stopping' ? at : undefined;
}

/** The earlier of two times: a deadline only moves closer. Times on claims are whole seconds, rounded down. */
function sooner(said: EpochMs | undefined, known: EpochMs | undefined): EpochMs | undefined {
  const whole = said === undefined ? undefined : ((Math.floor(said / 1000) * 1000) as EpochMs);
  if (whole === undefined || known === undefined) return whole ?? known;
  return whole < known ? whole : known;
}
