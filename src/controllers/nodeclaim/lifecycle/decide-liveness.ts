/** Decides whether a step of a claim has timed out. Pure. */
import { conditionOf, isTrue } from '../../../apis/karpenter/conditions.ts';
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import { type EpochMs, parseTimestamp } from '../../../platform/clock.ts';
import type { DisruptedReason } from '../metrics.ts';

export interface LivenessLimits {
  /** From the creation of the claim until a machine is launched. */
  readonly launchMs: number;
  /** From the launch until its node is registered. */
  readonly registrationMs: number;
  /** From the registration until the node is initialised. */
  readonly initializationMs: number;
}

export const LIVENESS_LIMITS: LivenessLimits = {
  launchMs: 5 * 60_000,
  registrationMs: 15 * 60_000,
  initializationMs: 30 * 60_000,
};

export type Liveness =
  | { readonly kind: 'done' }
  | { readonly kind: 'waiting'; readonly forMs: number }
  | {
      readonly kind: 'over';
      readonly reason: DisruptedReason;
      /** The event reason. */
      readonly event: string;
      readonly message: string;
    };

export function decideLiveness(claim: NodeClaim, now: EpochMs, limits: LivenessLimits): Liveness {
  const created = parseTimestamp(claim.metadata.creationTimestamp) ?? now;
  const since = (type: string): EpochMs => parseTimestamp(conditionOf(claim, type)?.lastTransitionTime) ?? created;
  if (!isTrue(claim, 'Launched')) {
    return step(claim, 'Launched', created, limits.launchMs, now, 'launch_timeout', 'LaunchTimeout');
  }
  if (!isTrue(claim, 'Registered')) {
    const launched = since('Launched');
    return step(
      claim,
      'Registered',
      launched,
      limits.registrationMs,
      now,
      'registration_timeout',
      'RegistrationTimeout',
    );
  }
  if (!isTrue(claim, 'Initialized')) {
    const registered = since('Registered');
    const { initializationMs } = limits;
    return step(
      claim,
      'Initialized',
      registered,
      initializationMs,
      now,
      'initialization_timeout',
      'InitializationTimeout',
    );
  }
  return { kind: 'done' };
}

function step(
  claim: NodeClaim,
  type: string,
  from: EpochMs,
  limitMs: number,
  now: EpochMs,
  reason: DisruptedReason,
  event: string,
): Liveness {
  const forMs = from + limitMs - now;
  if (forMs > 0) return { kind: 'waiting', forMs };
  const last = conditionOf(claim, type);
  const why = last?.message ? `: ${last.message}` : '';
  return { kind: 'over', reason, event, message: `not ${type} within ${limitMs / 60_000} minutes${why}` };
}
