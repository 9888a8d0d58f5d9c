/** What a policy says, as the code that follows it reads it. */
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

/** The settings of a NodePool, by the policies there are. */
export function settingsFor(pool: NodePool, policies: readonly SpotPolicy[]): SpotSettings {
  const [policy] = policiesFor(pool, policies);
  return policy === undefined ? DEFAULT_SPOT_SETTINGS : spotSettings(policy.metadata.name, policy.spec);
}

/** What holds for NodePools that no policy selects: the same as for an empty one. */
export const DEFAULT_SPOT_SETTINGS: SpotSettings = spotSettings(undefined, withDefaults(SPOT_POLICY_SPEC, {}));
