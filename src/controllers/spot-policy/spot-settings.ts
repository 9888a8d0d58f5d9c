/** What a policy says, as the code that follows it reads it. */
import { durationMs } from '../../apis/karpenter/duration.ts';
import { withDefaults } from '../../apis/schema/with-defaults.ts';
import type { RebalanceAction, SpotPolicySpec } from '../../apis/spindrift/spot-policy.ts';
import { SPOT_POLICY_SPEC } from '../../apis/spindrift/spot-policy-schema.ts';
import type { ReturnRule } from '../../engine/spot/return-to-spot.ts';
import type { SpotLimits } from '../../engine/spot/spot-limits.ts';

/** How a NodePool uses spot capacity. */
export interface SpotSettings {
  /** The name of the policy that holds; undefined where none does, and all else is the default. */
  readonly policy: string | undefined;
  readonly onRebalance: RebalanceAction;
  readonly limits: SpotLimits;
  /** What an interruption costs, in hours of the machine. */
  readonly riskWeight: number;
  /** How long an offering is not tried again. */
  readonly unavailableForMs: number;
  readonly returnToSpot: ReturnRule;
}

/** The settings of a policy. */
export function spotSettings(policy: string | undefined, spec: SpotPolicySpec): SpotSettings {
  const { onRebalance, onDemand, maxPercentPerSpotPool, riskWeight, unavailableFor, returnToSpot } = spec;
  return {
    policy,
    onRebalance,
    limits: { onDemandBase: onDemand.base, onDemandPercent: onDemand.percent, maxPercentPerSpotPool },
    riskWeight,
    unavailableForMs: durationMs(unavailableFor) ?? 0,
    returnToSpot: { afterMs: durationMs(returnToSpot.after), budget: returnToSpot.budget },
  };
}

/** What holds for NodePools that no policy selects: the same as for an empty one. */
export const DEFAULT_SPOT_SETTINGS: SpotSettings = spotSettings(undefined, withDefaults(SPOT_POLICY_SPEC, {}));
