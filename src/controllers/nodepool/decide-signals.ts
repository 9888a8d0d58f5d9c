/** Whether somebody hears of it before spot machines of a pool are taken back. Pure. */
import type { ConditionChange } from '../../apis/karpenter/conditions.ts';
import { LABEL_CAPACITY_TYPE } from '../../apis/karpenter/labels.ts';
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import type { DaemonSet } from '../../apis/kubernetes/workloads.ts';

export const CONDITION_SIGNALS = 'InterruptionSignals';

/** Agents that say on Nodes, in words that we read, that machines are taken back. */
const AGENTS = ['spindrift-agent', 'aws-node-termination-handler'];

const MISSING =
  'The pool allows spot capacity, but nothing tells when machines are taken back: their pods end without warning. Give the controller a queue (--interruption-queue; spindrift aws setup-queue makes one), or run the agent on spot nodes (examples/agent)';

/** What is to be said of a pool; undefined when nothing is, because it has no spot machines. */
export function decideSignals(
  pool: NodePool,
  tells: boolean | undefined,
  daemonSets: readonly DaemonSet[],
): ConditionChange | undefined {
  const isSaid = pool.status?.conditions?.some(({ type }) => type === CONDITION_SIGNALS) ?? false;
  if (!allowsSpot(pool)) {
    return isSaid ? { type: CONDITION_SIGNALS, status: 'True', reason: 'SpotNotAllowed' } : undefined;
  }
  if (tells === undefined) return undefined;
  // That all is well is only said where it was not before.
  if (tells || daemonSets.some(isAgent)) return isSaid ? { type: CONDITION_SIGNALS, status: 'True' } : undefined;
  return { type: CONDITION_SIGNALS, status: 'False', reason: 'NoSignalSource', message: MISSING };
}

/** Whether a DaemonSet runs one of them. */
export function isAgent({ metadata }: DaemonSet): boolean {
  return AGENTS.includes(metadata.labels?.['app.kubernetes.io/name'] ?? metadata.name ?? '');
}

/** Where a pool says nothing about capacity types, it takes all of them. */
function allowsSpot({ spec }: NodePool): boolean {
  const rules = spec.template.spec.requirements.filter(({ key }) => key === LABEL_CAPACITY_TYPE);
  return rules.every(({ operator, values = [] }) => {
    if (operator === 'In') return values.includes('spot');
    if (operator === 'NotIn') return !values.includes('spot');
    return operator !== 'DoesNotExist';
  });
}
