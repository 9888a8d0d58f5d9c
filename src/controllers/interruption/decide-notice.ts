/** What a notice means for the claim of its machine. Pure. */
import type { Notice, NoticeKind } from '../../cloud/notice.ts';
import type { EpochMs } from '../../platform/clock.ts';
import type { ClaimInterruption } from './interruption-of-claim.ts';

/** What a pool does when its cloud says that a machine may be taken soon. */
export type RebalanceAction = 'Event' | 'Cordon' | 'Replace';

/** The shortest warning that any cloud gives: what is assumed of one that does not say how long it is. */
const SHORTEST_NOTICE_MS = 30_000;

/** The worse the later. */
const GRAVITY: readonly NoticeKind[] = [
  'reservation-ending',
  'rebalance',
  'scheduled-maintenance',
  'spot-interruption',
  'reservation-interruption',
  'stopping',
  'preempted',
  'terminated',
];

/** What is to be written on the claim; undefined when the notice adds nothing to what is there. */
export function decideNotice(
  notice: Notice,
  known: ClaimInterruption | undefined,
  onRebalance: RebalanceAction,
): ClaimInterruption | undefined {
  // The machine lives on as on-demand when its reservation ends.
  if (notice.kind === 'reservation-ending') return undefined;
  if (notice.kind === 'rebalance' && onRebalance !== 'Replace') return undefined;
  const worse = known === undefined || GRAVITY.indexOf(notice.kind) > GRAVITY.indexOf(known.kind);
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

/** Of two times the sooner: a deadline only ever moves closer. They are written in whole seconds, and never later than said. */
function sooner(said: EpochMs | undefined, known: EpochMs | undefined): EpochMs | undefined {
  const whole = said === undefined ? undefined : ((Math.floor(said / 1000) * 1000) as EpochMs);
  if (whole === undefined || known === undefined) return whole ?? known;
  return whole < known ? whole : known;
}
