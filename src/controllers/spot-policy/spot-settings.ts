/** The settings of a SpotPolicy in parsed form. */
import { durationMs } from '../../apis/karpenter/duration.ts';
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import { withDefaults } from '../../apis/schema/with-defaults.ts';
import type { RebalanceAction, SpotPolicy, SpotPolicySpec } from '../../apis/spindrift/spot-policy.ts';
import { SPOT_POLICY_SPEC } from '../../apis/spindrift/spot-policy-schema.ts';
import type { ReturnRule } from '../../engine/spot/return-to-spot.ts';
import type { SpotLimits } from '../../engine/spot/spot-limits.ts';
import { policiesFor } from './governing-policy.ts';

/** How a NodePool uses spot capacity. */
export interface SpotSettings {
  /** Name of the policy that applies; undefined if all settings are defaults. */
  readonly policy: string | undefined;
  readonly onRebalance: RebalanceAction;
  readonly limits: SpotLimits;
  /** Cost of an interruption, in hours of the node's price. */
  readonly riskWeight: number;
  /** How long an unavailable offering is not tried again. */
  readonly unavailableForMs: number;
  readonly returnToSpot: ReturnRule;
}

function spotSettings(policy: string | undefined, spec: SpotPolicySpec): SpotSettings {
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

/** The settings of a NodePool from these policies. */
export function settingsFor(pool: NodePool, policies: readonly SpotPolicy[]): SpotSettings {
  const [policy] = policiesFor(pool, policies);
  return policy === undefined ? DEFAULT_SPOT_SETTINGS : spotSettings(policy.metadata.name, policy.spec);
}

/** Settings of NodePools that no policy selects: those of an empty policy. */
export const DEFAULT_SPOT_SETTINGS: SpotSettings = spotSettings(undefined, withDefaults(SPOT_POLICY_SPEC, {}));
