/** When the node of a claim was rebooted, written on the claim: a node that is sick again and again is replaced. Pure. */
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import { SPINDRIFT_GROUP } from '../../../apis/spindrift/group.ts';
import { type EpochMs, parseTimestamp, toTimestamp } from '../../../platform/clock.ts';

/** On a claim: when its node was rebooted, a time each. */
export const ANNOTATION_REBOOTS = `${SPINDRIFT_GROUP}/reboots`;

/** So many reboots within a day are enough. */
const MOST_REBOOTS = 2;
const DAY_MS = 24 * 3_600_000;

/** Whether the node may be rebooted once more. */
export function mayReboot(claim: NodeClaim, now: EpochMs): boolean {
  return rebootsOf(claim, now).length < MOST_REBOOTS;
}

/** What is written on the claim when it is rebooted now. */
export function withReboot(claim: NodeClaim, now: EpochMs): string {
  return [...rebootsOf(claim, now), now].map(toTimestamp).join(' ');
}

/** Those of the last day. */
function rebootsOf({ metadata }: NodeClaim, now: EpochMs): EpochMs[] {
  return (metadata.annotations?.[ANNOTATION_REBOOTS] ?? '')
    .split(' ')
    .flatMap((text) => parseTimestamp(text) ?? [])
    .filter((at) => now - at < DAY_MS);
}
