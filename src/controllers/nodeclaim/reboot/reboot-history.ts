/** The reboots of a node, written on its claim: a node that needs too many is replaced. Pure. */
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import { SPINDRIFT_GROUP } from '../../../apis/spindrift/group.ts';
import { type EpochMs, parseTimestamp, toTimestamp } from '../../../platform/clock.ts';

/** On a claim: the times at which its node was rebooted. */
export const ANNOTATION_REBOOTS = `${SPINDRIFT_GROUP}/reboots`;

/** The most reboots within a day. */
const MOST_REBOOTS = 2;
const DAY_MS = 24 * 3_600_000;

/** Whether the node may be rebooted once more. */
export function mayReboot(claim: NodeClaim, now: EpochMs): boolean {
  return rebootsOf(claim, now).length < MOST_REBOOTS;
}

/** The annotation value with a reboot at `now` added. */
export function withReboot(claim: NodeClaim, now: EpochMs): string {
  return [...rebootsOf(claim, now), now].map(toTimestamp).join(' ');
}

/** The reboots of the last day. */
function rebootsOf({ metadata }: NodeClaim, now: EpochMs): EpochMs[] {
  return (metadata.annotations?.[ANNOTATION_REBOOTS] ?? '')
    .split(' ')
    .flatMap((text) => parseTimestamp(text) ?? [])
    .filter((at) => now - at < DAY_MS);
}
