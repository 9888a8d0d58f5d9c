/** Tries ranked offerings one after the other: what every cloud without a fleet call of its own does at a launch. */
import type { RankedOffering } from '../engine/solution.ts';
import { hasCode, SpindriftError } from '../platform/errors.ts';
import { offeringKey } from './offering-key.ts';
import type { Reservations } from './reservations.ts';
import type { UnavailableOfferings } from './unavailable-offerings.ts';

export interface LaunchInOrder<Launched> {
  readonly claim: { readonly name: string; readonly uid: string };
  readonly offerings: readonly RankedOffering[];
  readonly unavailable: UnavailableOfferings;
  readonly reservations: Reservations;
  /** Whose market it is, where the cloud has several. */
  readonly account?: string;
  /** The NodePool that the claim is of. */
  readonly pool?: string;
  /** Launches one; CLOUD_INSUFFICIENT_CAPACITY or CLOUD_QUOTA_EXCEEDED lead to the next, any other error is thrown. */
  launch(offering: RankedOffering): Promise<Launched>;
  /** What an earlier try of the same claim may have left behind; asked only when no offering could even be tried. */
  find(): Promise<Launched | undefined>;
}

/** Launches from the first offering that has capacity; remembers those that had none. */
export async function launchInOrder<Launched>(options: LaunchInOrder<Launched>): Promise<Launched> {
  const { claim, unavailable, reservations, account, pool } = options;
  let tried = false;
  for (const offering of options.offerings) {
    const { reservationId } = offering;
    const sold = account === undefined ? offering : { ...offering, account };
    if (unavailable.has(sold, pool)) continue;
    if (reservationId !== undefined && !reservations.hold(reservationId, claim.uid)) continue;
    tried = true;
    try {
      const launched = await options.launch(offering);
      if (reservationId !== undefined) reservations.launched(reservationId, claim.uid);
      return launched;
    } catch (error) {
      // Anything else leaves open whether it was launched: a slot that is held stays so until the claim is tried again.
      if (!hasCode(error, 'CLOUD_INSUFFICIENT_CAPACITY', 'CLOUD_QUOTA_EXCEEDED')) throw error;
      const cause = error.code === 'CLOUD_QUOTA_EXCEEDED' ? 'quota' : 'capacity';
      if (reservationId === undefined)
        unavailable.mark(sold, error.message, { cause, ...(pool !== undefined && { pool }) });
      else {
        reservations.release(reservationId, claim.uid);
        reservations.exhausted(reservationId);
      }
    }
  }
  const left = tried ? undefined : await options.find();
  if (left !== undefined) return left;
  throw new SpindriftError('CLOUD_INSUFFICIENT_CAPACITY', {
    claim: claim.name,
    offerings: sentence(options.offerings),
    unavailable: options.offerings,
  });
}

const NAMED_OFFERINGS = 5;

function sentence(offerings: readonly RankedOffering[]): string {
  if (offerings.length === 0) return 'it allows none';
  const named = offerings.slice(0, NAMED_OFFERINGS).map(offeringKey).join(', ');
  const more = offerings.length - NAMED_OFFERINGS;
  return more > 0 ? `${named} and ${more} more` : named;
}
