/** Policies for tests, with the defaults that an API server fills in. */
import { type Written, withDefaults } from '../../../apis/schema/with-defaults.ts';
import type { SpotPolicy, SpotPolicySpec, SpotPolicyStatus } from '../../../apis/spindrift/spot-policy.ts';
import { SPOT_POLICY_SPEC } from '../../../apis/spindrift/spot-policy-schema.ts';

export function aSpotPolicy(name: string, spec: Written<SpotPolicySpec> = {}, status?: SpotPolicyStatus): SpotPolicy {
  return {
    apiVersion: 'spindrift.dev/v1alpha1',
    kind: 'SpotPolicy',
    metadata: { name, uid: `uid-${name}`, generation: 1 },
    spec: withDefaults(SPOT_POLICY_SPEC, spec),
    ...(status && { status }),
  };
}
