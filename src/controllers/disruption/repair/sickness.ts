/** Which nodes are sick by their cloud's repair policies, and since when repair is due. Pure. */
import type { Node } from '../../../apis/kubernetes/node.ts';
import type { RepairPolicy } from '../../../cloud/repair-policy.ts';
import { type EpochMs, parseTimestamp } from '../../../platform/clock.ts';

/** The repair that a sick node is due for. */
export interface Sickness {
  /** The node condition that matched a policy. */
  readonly condition: string;
  readonly priority: number;
  /** Since when repair is due: the toleration has passed. */
  readonly since: number;
  /** The longest drain; undefined if no policy bounds it. */
  readonly graceMs?: number;
  /** A reboot if all matching policies advise one. */
  readonly action: RepairPolicy['action'];
}

interface Match {
  readonly policy: RepairPolicy;
  readonly condition: string;
  readonly since: number;
}

/** Whether any policy matches the node, also within its toleration. */
export function isSick(node: Node, policies: readonly RepairPolicy[]): boolean {
  return matches(node, policies).length > 0;
}

/** The repair that is due now; undefined while the node is healthy or tolerated. */
export function sicknessOf(node: Node, policies: readonly RepairPolicy[], now: EpochMs): Sickness | undefined {
  const due = matches(node, policies)
    .filter(({ since }) => since <= now)
    .sort((a, b) => b.policy.priority - a.policy.priority || a.since - b.since || (a.condition < b.condition ? -1 : 1));
  const [first] = due;
  if (first === undefined) return undefined;
  const graceMs = Math.min(...due.map(({ policy }) => policy.terminationGracePeriodMs ?? Number.POSITIVE_INFINITY));
  return {
    condition: first.condition,
    priority: first.policy.priority,
    since: first.since,
    action: due.every(({ policy }) => policy.action === 'RebootNode') ? 'RebootNode' : 'ReplaceNode',
    ...(Number.isFinite(graceMs) ? { graceMs } : {}),
  };
}

/**
 * The policies that match the conditions of a node: those whose pattern matches the condition's reason, or else the one without a pattern,
 * which covers every condition and status that any policy names.
 */
function matches(node: Node, policies: readonly RepairPolicy[]): Match[] {
  const createdAt = parseTimestamp(node.metadata.creationTimestamp) ?? 0;
  const fallback = policies.find(({ reasonPattern }) => !reasonPattern);
  return (node.status?.conditions ?? []).flatMap(({ type, status, reason = '', lastTransitionTime }) => {
    const spoken = policies.filter((policy) => policy.conditionType === type && policy.conditionStatus === status);
    if (spoken.length === 0) return [];
    const special = spoken.filter(({ reasonPattern }) => reasonPattern && new RegExp(reasonPattern).test(reason));
    const holding = special.length > 0 || fallback === undefined ? special : [fallback];
    const sickAt = Math.max(parseTimestamp(lastTransitionTime) ?? 0, createdAt);
    return holding.map((policy) => ({ policy, condition: type, since: sickAt + policy.tolerationMs }));
  });
}
