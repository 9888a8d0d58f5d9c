/** Decides which notice the agent writes on its Node. */

import type { Condition } from '../apis/kubernetes/object.ts';
import { type StatedInterruption, statedInterruption } from '../apis/spindrift/interruption-condition.ts';
import type { EpochMs } from '../platform/clock.ts';
import type { NodeWarning } from './node-warning.ts';

/** From harmless to worst. */
const GRAVITY: readonly NodeWarning['kind'][] = ['rebalance', 'scheduled-maintenance', 'spot-interruption', 'stopping'];
/** Maintenance this close counts as an interruption. */
const SOON_MS = 15 * 60_000;

/** The worst notice of all sources; ties go to the earliest deadline. Undefined without notices. */
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

/** Whether pods must be evicted now, even without a controller. */
export function mustLeave(stated: StatedInterruption, now: EpochMs): boolean {
  if (stated.kind === 'rebalance' || stated.deadline === undefined) return false;
  return stated.kind !== 'scheduled-maintenance' || stated.deadline - now < SOON_MS;
}

/** Decides whether to write, keep or clear the condition on the Node. */
export function decideCondition(
  wanted: StatedInterruption | undefined,
  present: Condition | undefined,
  wasSaid: boolean,
  now: EpochMs,
): 'write' | 'withdraw' | 'none' {
  const known = present === undefined ? undefined : statedInterruption(present);
  if (wanted === undefined) {
    if (present?.status !== 'True') return 'none';
    // A restarted agent has not received the notice of its predecessor yet: keep it until its deadline is over.
    const isOver = known === undefined || (known.deadline ?? known.at) + SOON_MS < now;
    return wasSaid || isOver ? 'withdraw' : 'none';
  }
  if (known === undefined) return 'write';
  const second = (time: number | undefined): number | undefined =>
    time === undefined ? undefined : Math.floor(time / 1000);
  const isSame = known.kind === wanted.kind && second(known.deadline) === second(wanted.deadline);
  if (isSame) return 'none';
  // A notice without a time would get a new one after each restart: the first one stays.
  const isKnown = !wasSaid && known.kind === wanted.kind && known.source === wanted.source;
  return isKnown && (known.deadline ?? 0) <= (wanted.deadline ?? Number.POSITIVE_INFINITY) ? 'none' : 'write';
}
