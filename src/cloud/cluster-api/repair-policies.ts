/** When sick nodes are replaced. A MachineHealthCheck of the same machines does so too: see docs/cluster-api.md. */
import type { RepairPolicy } from '../repair-policy.ts';

const MINUTE_MS = 60_000;

export const REPAIR_POLICIES: readonly RepairPolicy[] = [
  {
    conditionType: 'Ready',
    conditionStatus: 'False',
    reasonPattern: '.',
    tolerationMs: 10 * MINUTE_MS,
    priority: 50,
    action: 'ReplaceNode',
  },
  // Nothing is heard of the node: what is on it does not end any sooner for being asked.
  {
    conditionType: 'Ready',
    conditionStatus: 'Unknown',
    tolerationMs: 10 * MINUTE_MS,
    terminationGracePeriodMs: 0,
    priority: 20,
    action: 'ReplaceNode',
  },
];
