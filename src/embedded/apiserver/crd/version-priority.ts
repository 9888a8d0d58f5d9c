const KUBE_VERSION = /^v(\d+)(?:(alpha|beta)(\d+))?$/;
const STAGES: Readonly<Record<string, number>> = { alpha: 0, beta: 1 };

/** Orders versions as discovery prefers them: v2, v1, v1beta2, v1beta1, v1alpha1, then other names alphabetically. */
export function byVersionPriority(a: string, b: string): number {
  const [left, right] = [KUBE_VERSION.exec(a), KUBE_VERSION.exec(b)];
  if (left === null || right === null) {
    if (left === null && right === null) return a < b ? -1 : a > b ? 1 : 0;
    return left === null ? 1 : -1;
  }
  const [stageA, stageB] = [STAGES[left[2] ?? ''] ?? 2, STAGES[right[2] ?? ''] ?? 2];
  return stageB - stageA || Number(right[1]) - Number(left[1]) || Number(right[3] ?? 0) - Number(left[3] ?? 0);
}
