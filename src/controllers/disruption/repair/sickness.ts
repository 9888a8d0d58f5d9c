/** Which nodes a cloud's repair policies call sick, and since when that is long enough. Pure. */
import type { Node } from '../../../apis/kubernetes/node.ts';
import type { RepairPolicy } from '../../../cloud/repair-policy.ts';
import { type EpochMs, parseTimestamp } from '../../../platform/clock.ts';

/** What is to be done about a sick node. */
export interface Sickness {
  /** The condition that tells of it. */
  readonly condition: string;
  readonly priority: number;
  /** From when on something is to be done. */
  readonly since: number;
  /** At most so long is given to its pods; undefined where no policy says so. */
  readonly graceMs?: number;
  /** A reboot where no policy that holds asks for more. */
  readonly action: RepairPolicy['action'];
}

interface Match {
  readonly policy: RepairPolicy;
  readonly condition: string;
  readonly since: number;
}

/** Whether any policy calls the node sick, however short a time it has been. */
export function isSick(node: Node, policies: readonly RepairPolicy[]): boolean {
  return matches(node, policies).length > 0;
}

/** What is to be done about the node now; undefined while it is healthy, or its sickness is tolerated. */
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
 * The policies that hold for the conditions of a node: those whose pattern the condition's reason matches, or the one
 * without a pattern where no other does. That one is for every condition and status that some policy speaks of.
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
