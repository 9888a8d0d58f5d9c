/** When unhealthy nodes of IBM Cloud are replaced. Pressure on memory, disk or process IDs is caused by pods, so it replaces no node. */
import type { RepairPolicy } from '../repair-policy.ts';

const MINUTE_MS = 60_000;

export const IBM_REPAIR_POLICIES: readonly RepairPolicy[] = [
  {
    conditionType: 'Ready',
    conditionStatus: 'False',
    reasonPattern: '^KubeletNotReady$',
    tolerationMs: 10 * MINUTE_MS,
    priority: 50,
    action: 'RebootNode',
  },
  {
    conditionType: 'Ready',
    conditionStatus: 'Unknown',
    tolerationMs: 10 * MINUTE_MS,
    terminationGracePeriodMs: 0,
    priority: 20,
    action: 'ReplaceNode',
  },
];
