/** What an agent says about its node, from all that it hears. Pure. */

import type { Condition } from '../apis/kubernetes/object.ts';
import { type StatedInterruption, statedInterruption } from '../apis/spindrift/interruption-condition.ts';
import type { EpochMs } from '../platform/clock.ts';
import type { NodeWarning } from './node-warning.ts';

/** The worse the later. */
const GRAVITY: readonly NodeWarning['kind'][] = ['rebalance', 'scheduled-maintenance', 'spot-interruption', 'stopping'];
/** A maintenance this close is as bad as an interruption. */
const SOON_MS = 15 * 60_000;

/** The worst that is heard, by source; of equals the one that leaves the least time. Undefined when all is quiet. */
export function decideStatement(heard: ReadonlyMap<string, readonly NodeWarning[]>): StatedInterruption | undefined {
  let worst: StatedInterruption | undefined;
  for (const [source, warnings] of heard)
    for (const warning of warnings) if (worst === undefined || isWorse(warning, worst)) worst = { ...warning, source };
  return worst;
}

function isWorse(one: NodeWarning, other: StatedInterruption): boolean {
  const gravity = GRAVITY.indexOf(one.kind) - GRAVITY.indexOf(other.kind);
  if (gravity !== 0) return gravity > 0;
  return (one.deadline ?? Number.POSITIVE_INFINITY) < (other.deadline ?? Number.POSITIVE_INFINITY);
}

/** Whether pods have to leave now, also where no controller sees to it. */
export function mustLeave(stated: StatedInterruption, now: EpochMs): boolean {
  if (stated.kind === 'rebalance' || stated.deadline === undefined) return false;
  return stated.kind !== 'scheduled-maintenance' || stated.deadline - now < SOON_MS;
}

/** What to do about the condition on the node. */
export function decideCondition(
  wanted: StatedInterruption | undefined,
  present: Condition | undefined,
  wasSaid: boolean,
  now: EpochMs,
): 'write' | 'withdraw' | 'none' {
  const known = present === undefined ? undefined : statedInterruption(present);
  if (wanted === undefined) {
    if (present?.status !== 'True') return 'none';
    // An agent that has just started has not heard yet what the one before it heard, unless its time is over.
    const isOver = known === undefined || (known.deadline ?? known.at) + SOON_MS < now;
    return wasSaid || isOver ? 'withdraw' : 'none';
  }
  if (known === undefined) return 'write';
  const second = (time: number | undefined): number | undefined =>
    time === undefined ? undefined : Math.floor(time / 1000);
  const isSame = known.kind === wanted.kind && second(known.deadline) === second(wanted.deadline);
  if (isSame) return 'none';
  // After a restart the time of what has no time of its own would move on; what was said first holds.
  const isKnown = !wasSaid && known.kind === wanted.kind && known.source === wanted.source;
  return isKnown && (known.deadline ?? 0) <= (wanted.deadline ?? Number.POSITIVE_INFINITY) ? 'none' : 'write';
}
