/** Finds the offerings that a rejected create call concerns. Pure. */
import type { RankedOffering } from '../../../engine/solution.ts';
import type { Refusal } from '../../cloud.ts';
import { apiRefusal } from '../api/ibm-api.ts';

/** The refusal of an offering; undefined if the error is about something else. */
export function createRefusal(
  error: unknown,
  { instanceType, zone, capacityType }: RankedOffering,
): Refusal | undefined {
  const refused = apiRefusal(error);
  if (refused === undefined || refused.status < 400 || refused.status >= 500) return undefined;
  const { code, message } = refused;
  const offering = { instanceType, zone, capacityType };
  // Spot and on-demand have separate quotas, over all types and zones of the region.
  if (code.includes('over_quota') || code.includes('quota_exceeded'))
    return { offering: { capacityType }, cause: 'quota', message };
  if (code === 'subnet_no_addresses' || /no (?:free|available) (?:ip )?address/i.test(message))
    return { offering: { zone }, cause: 'capacity', message };
  if (
    code === 'invalid_profile_error' ||
    code === 'invalid_zone' ||
    /availability.?class|profile .* not (?:available|supported)/i.test(message)
  )
    return { offering, cause: 'unsupported', message };
  return undefined;
}

/** Whether the name of the machine or of one of its parts is taken; undefined for other errors. */
export function takenName(error: unknown): 'machine' | 'part' | undefined {
  const refused = apiRefusal(error);
  if (refused?.code !== 'validation_unique_failed' && !(refused?.status === 400 && /not unique/.test(refused.message)))
    return undefined;
  return /-(?:boot|vni|data-\d+)\)?/.test(refused?.message ?? '') ? 'part' : 'machine';
}
