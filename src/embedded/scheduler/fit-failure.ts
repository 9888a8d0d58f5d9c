/** Why no node fits a pod, in kube-scheduler's words. */

/** Why a node was refused; `resolvable` if fewer pods on the node would help. */
export interface Refusal {
  readonly reasons: readonly string[];
  readonly resolvable: boolean;
}

export interface FitFailure {
  readonly message: string;
}

/** Counts the refusals of the nodes and formats the message. */
export function fitFailure(
  nodeCount: number,
  refusals: Iterable<Refusal>,
  options: { readonly preemptionPolicy?: string | undefined } = {},
): FitFailure {
  if (nodeCount === 0) return { message: 'no nodes available to schedule pods' };
  const counts = new Map<string, number>();
  let resolvable = 0;
  for (const refusal of refusals) {
    if (refusal.resolvable) resolvable++;
    for (const reason of refusal.reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  const reasons = [...counts].map(([reason, count]) => `${count} ${reason}`).sort();
  return { message: sentence(nodeCount, reasons, preemption(nodeCount, resolvable, options.preemptionPolicy)) };
}

/**
 * The failure of a pod for which no node was checked, because of an object it refers to. The final "not found" is what
 * kube-scheduler 1.36 prints there: dynamic resources look for a state that was never written.
 */
export function podFailure(nodeCount: number, problem: string): FitFailure {
  if (nodeCount === 0) return { message: 'no nodes available to schedule pods' };
  return { message: `0/${nodeCount} nodes are available: ${problem}. not found` };
}

function sentence(nodeCount: number, reasons: readonly string[], preemptionNote: string): string {
  // Since 1.34 the second half starts with a note about dynamic resources, which is always the same here.
  return `0/${nodeCount} nodes are available: ${reasons.join(', ')}. no new claims to deallocate, preemption: ${preemptionNote}`;
}

/** The preemption part of the message. Preemption never finds a victim here. */
function preemption(nodeCount: number, resolvable: number, policy: string | undefined): string {
  if (policy === 'Never') return 'not eligible due to preemptionPolicy=Never.';
  const parts = [
    ...(resolvable > 0 ? [`${resolvable} No preemption victims found for incoming pod`] : []),
    ...(resolvable < nodeCount ? [`${nodeCount - resolvable} Preemption is not helpful for scheduling`] : []),
  ];
  return `0/${nodeCount} nodes are available: ${parts.sort().join(', ')}.`;
}
