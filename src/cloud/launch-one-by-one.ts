import type { RankedOffering } from '../engine/solution.ts';
import { hasCode } from '../platform/errors.ts';
import type { LaunchAnswer, LaunchRequest, Refusal, RefusalCause } from './cloud.ts';
import type { Machine } from './machine.ts';
import { nameOf } from './offering-key.ts';

/**
 * Tries the offerings of a launch one after the other: what a cloud without a fleet call does. The call rejects with
 * CLOUD_INSUFFICIENT_CAPACITY or CLOUD_QUOTA_EXCEEDED for an offering that cannot be had; any other error leaves open whether
 * something was launched and ends the launch.
 */
export async function launchOneByOne(
  { offerings, takeSlot }: Pick<LaunchRequest, 'offerings' | 'takeSlot'>,
  launch: (offering: RankedOffering) => Promise<Machine>,
): Promise<LaunchAnswer> {
  const refused: Refusal[] = [];
  for (const offering of offerings) {
    if (offering.reservationId !== undefined && !takeSlot(offering.reservationId)) continue;
    try {
      return { kind: 'launched', machine: await launch(offering), refused };
    } catch (error) {
      if (!hasCode(error, 'CLOUD_INSUFFICIENT_CAPACITY', 'CLOUD_QUOTA_EXCEEDED')) throw error;
      const cause: RefusalCause = error.code === 'CLOUD_QUOTA_EXCEEDED' ? 'quota' : 'capacity';
      refused.push({ offering: nameOf(offering), cause, message: error.message });
    }
  }
  return { kind: 'refused', refused };
}
