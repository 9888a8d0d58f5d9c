import type { RankedOffering } from '../engine/solution.ts';
import { hasCode, type SpindriftError } from '../platform/errors.ts';
import type { LaunchAnswer, LaunchRequest, Refusal } from './cloud.ts';
import type { Machine } from './machine.ts';
import { matches, nameOf } from './offering-key.ts';

/** Which offerings a refusal covers, and why: the one that was asked for is always among them. */
export type RefusalScope = (offering: RankedOffering, error: SpindriftError) => Omit<Refusal, 'message'>;

/**
 * Tries the offerings of a launch one after the other: what a cloud without a fleet call does. The call rejects with
 * CLOUD_INSUFFICIENT_CAPACITY or CLOUD_QUOTA_EXCEEDED for an offering that cannot be had; any other error leaves open whether
 * something was launched and ends the launch. Offerings that an earlier refusal covers are not tried.
 */
export async function launchOneByOne(
  { offerings, takeSlot }: Pick<LaunchRequest, 'offerings' | 'takeSlot'>,
  launch: (offering: RankedOffering) => Promise<Machine>,
  scopeOf: RefusalScope = onlyThisOne,
): Promise<LaunchAnswer> {
  const refused: Refusal[] = [];
  for (const offering of offerings) {
    if (refused.some((each) => matches(each.offering, offering))) continue;
    if (offering.reservationId !== undefined && !takeSlot(offering.reservationId)) continue;
    try {
      return { kind: 'launched', machine: await launch(offering), refused };
    } catch (error) {
      if (!hasCode(error, 'CLOUD_INSUFFICIENT_CAPACITY', 'CLOUD_QUOTA_EXCEEDED')) throw error;
      refused.push({ ...scopeOf(offering, error), message: error.message });
    }
  }
  return { kind: 'refused', refused };
}

function onlyThisOne(offering: RankedOffering, { code }: SpindriftError): Omit<Refusal, 'message'> {
  return { offering: nameOf(offering), cause: code === 'CLOUD_QUOTA_EXCEEDED' ? 'quota' : 'capacity' };
}
