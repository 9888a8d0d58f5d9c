import type { Taint } from '../../../apis/kubernetes/node.ts';
import type { Toleration } from '../../../apis/kubernetes/pod.ts';
import { tolerates } from '../../../apis/kubernetes/taints.ts';
import { parseTimestamp } from '../../../platform/clock.ts';

/** When a pod must leave a node with these taints: at once (0), at a time, or never (undefined). */
export function evictionTime(
  taints: readonly Taint[] | undefined,
  tolerations: readonly Toleration[] | undefined,
): number | undefined {
  let earliest: number | undefined;
  for (const taint of taints ?? []) {
    if (taint.effect !== 'NoExecute') continue;
    const covering = (tolerations ?? []).filter((toleration) => tolerates(toleration, taint));
    if (covering.length === 0) return 0;
    const seconds = covering
      .map(({ tolerationSeconds }) => tolerationSeconds)
      .filter((value) => value !== undefined && value !== null);
    if (seconds.length === 0) continue;
    const at = (parseTimestamp(taint.timeAdded) ?? 0) + Math.max(0, Math.min(...seconds)) * 1000;
    earliest = Math.min(earliest ?? Number.POSITIVE_INFINITY, at);
  }
  return earliest;
}
