/** When unhealthy nodes of the simulated cloud are rebooted or replaced. */
import type { RepairPolicy } from '../repair-policy.ts';

const MINUTE_MS = 60_000;

const REPAIR_POLICIES: readonly RepairPolicy[] = [
  {
    conditionType: 'Ready',
    conditionStatus: 'False',
    reasonPattern: '^KubeletNotReady$',
    tolerationMs: 10 * MINUTE_MS,
    priority: 50,
    action: 'RebootNode',
  },
  {
    conditionType: 'AcceleratedHardwareReady',
    conditionStatus: 'False',
    reasonPattern: '.',
    tolerationMs: 10 * MINUTE_MS,
    priority: 80,
    action: 'ReplaceNode',
  },
  // The kubelet does not answer, so waiting for pods to end is pointless.
  {
    conditionType: 'Ready',
    conditionStatus: 'Unknown',
    tolerationMs: 30 * MINUTE_MS,
    terminationGracePeriodMs: 0,
    priority: 20,
    action: 'ReplaceNode',
  },
];

/** The policies, with an upper limit on their toleration. */
export function repairPolicies(longestTolerationMs: number = Number.POSITIVE_INFINITY): readonly RepairPolicy[] {
  return REPAIR_POLICIES.map((policy) => ({
    ...policy,
    tolerationMs: Math.min(policy.tolerationMs, longestTolerationMs),
  }));
}
