/** When to reboot or replace a node that EKS's node monitoring agent, or its kubelet, reports as unhealthy. */
import type { RepairPolicy } from '../repair-policy.ts';

const MINUTES = 60_000;

function replace(conditionType: string, status: 'False' | 'Unknown', minutes: number, priority: number): RepairPolicy {
  return {
    conditionType,
    conditionStatus: status,
    reasonPattern: '.*',
    tolerationMs: minutes * MINUTES,
    priority,
    action: 'ReplaceNode',
  };
}

/** Accelerator failures are acted on sooner; the agent may still repair the others. */
export const AWS_REPAIR_POLICIES: readonly RepairPolicy[] = [
  replace('AcceleratedHardwareReady', 'False', 10, 90),
  replace('StorageReady', 'False', 30, 60),
  replace('NetworkingReady', 'False', 30, 60),
  replace('KernelReady', 'False', 30, 60),
  replace('ContainerRuntimeReady', 'False', 30, 60),
  replace('Ready', 'Unknown', 30, 40),
  { conditionType: 'Ready', conditionStatus: 'False', tolerationMs: 30 * MINUTES, priority: 40, action: 'ReplaceNode' },
];
