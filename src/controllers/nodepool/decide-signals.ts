/** Whether a pool with spot capacity has a source of interruption notices. Pure. */
import type { ConditionChange } from '../../apis/karpenter/conditions.ts';
import { LABEL_CAPACITY_TYPE } from '../../apis/karpenter/labels.ts';
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import type { DaemonSet } from '../../apis/kubernetes/workloads.ts';

export const CONDITION_SIGNALS = 'InterruptionSignals';

/** DaemonSets that report interruptions on Nodes in a form that Spindrift reads. */
const AGENTS = ['spindrift-agent', 'aws-node-termination-handler'];

const MISSING =
  'The pool allows spot capacity, but has no source of interruption notices: pods on interrupted nodes end without warning. Give the controller a queue (--interruption-queue; spindrift aws setup-queue creates one), or run the agent on spot nodes (examples/agent)';

/** The change of the pool's condition; undefined if there is none. `tells`: whether its cloud delivers notices, if known. */
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
  // The condition appears only once notices are missing.
  if (tells || daemonSets.some(isAgent)) return isSaid ? { type: CONDITION_SIGNALS, status: 'True' } : undefined;
  return { type: CONDITION_SIGNALS, status: 'False', reason: 'NoSignalSource', message: MISSING };
}

/** Whether a DaemonSet is one of these agents. */
export function isAgent({ metadata }: DaemonSet): boolean {
  return AGENTS.includes(metadata.labels?.['app.kubernetes.io/name'] ?? metadata.name ?? '');
}

/** A pool without a requirement on capacity types allows all of them. */
function allowsSpot({ spec }: NodePool): boolean {
  const rules = spec.template.spec.requirements.filter(({ key }) => key === LABEL_CAPACITY_TYPE);
  return rules.every(({ operator, values = [] }) => {
    if (operator === 'In') return values.includes('spot');
    if (operator === 'NotIn') return !values.includes('spot');
    return operator !== 'DoesNotExist';
  });
}
