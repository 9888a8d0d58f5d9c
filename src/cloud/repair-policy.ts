/** When to reboot or replace an unhealthy node, as its cloud advises. */

export interface RepairPolicy {
  /** The node condition that reports the problem, and its status. */
  readonly conditionType: string;
  readonly conditionStatus: 'True' | 'False' | 'Unknown';
  /** Matched anywhere in the condition's reason; the one policy without it applies where no other does. */
  readonly reasonPattern?: string;
  /** How long the condition must have lasted. */
  readonly tolerationMs: number;
  /** The longest grace period for draining; the claim's own period when absent, none when 0. */
  readonly terminationGracePeriodMs?: number;
  /** 0 to 100; the highest goes first. */
  readonly priority: number;
  readonly action: 'RebootNode' | 'ReplaceNode';
}

/** What is wrong with a set of policies, as sentences; none when it can be used. */
export function repairPolicyProblems(policies: readonly RepairPolicy[]): string[] {
  const fallbacks = policies.filter((policy) => !policy.reasonPattern);
  const problems = policies.flatMap((policy, index) =>
    problemsOf(policy).map((problem) => `policy ${index} (${policy.conditionType}): ${problem}`),
  );
  if (fallbacks.length !== 1) problems.push(`${fallbacks.length} policies have no reasonPattern, but exactly one must`);
  if (fallbacks.some((policy) => policy.action !== 'ReplaceNode'))
    problems.push('the policy without reasonPattern must replace the node');
  return problems;
}

/** The policies, or none of them if one is invalid. */
export function usableRepairPolicies(policies: readonly RepairPolicy[]): readonly RepairPolicy[] {
  return repairPolicyProblems(policies).length === 0 ? policies : [];
}

function problemsOf({ priority, tolerationMs, terminationGracePeriodMs = 0, reasonPattern }: RepairPolicy): string[] {
  return [
    ...(Number.isInteger(priority) && priority >= 0 && priority <= 100 ? [] : ['priority must be 0 to 100']),
    ...(tolerationMs >= 0 && terminationGracePeriodMs >= 0 ? [] : ['durations must not be negative']),
    ...(reasonPattern === undefined || isPattern(reasonPattern) ? [] : ['reasonPattern must be a regular expression']),
  ];
}

function isPattern(text: string): boolean {
  try {
    new RegExp(text);
    return true;
  } catch {
    return false;
  }
}
