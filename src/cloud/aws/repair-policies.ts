/** When to reboot or replace a node that the node monitoring agent of EKS, or its kubelet, says is sick. */
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

/** Accelerators fail for good sooner than the rest, which the agent may still repair. */
export const AWS_REPAIR_POLICIES: readonly RepairPolicy[] = [
  replace('AcceleratedHardwareReady', 'False', 10, 90),
  replace('StorageReady', 'False', 30, 60),
  replace('NetworkingReady', 'False', 30, 60),
  replace('KernelReady', 'False', 30, 60),
  replace('ContainerRuntimeReady', 'False', 30, 60),
  replace('Ready', 'Unknown', 30, 40),
  { conditionType: 'Ready', conditionStatus: 'False', tolerationMs: 30 * MINUTES, priority: 40, action: 'ReplaceNode' },
];
