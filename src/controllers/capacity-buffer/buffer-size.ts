/** How many virtual pods a CapacityBuffer has. Pure. */
import type { CapacityBufferSpec } from '../../apis/autoscaling/capacity-buffer.ts';
import type { PodSpec } from '../../apis/kubernetes/pod.ts';
import { podRequests, resourceAmounts } from '../../apis/kubernetes/pod-requests.ts';

/**
 * The larger of `replicas` and `percentage`, capped by `limits`; with neither, as many as `limits` allow. `scaled` is the replica count
 * of the scalableRef object.
 */
export function bufferSize(
  { replicas, percentage, limits }: Pick<CapacityBufferSpec, 'replicas' | 'percentage' | 'limits'>,
  spec: PodSpec,
  scaled: number | undefined,
): number {
  const share = percentage === undefined || !scaled ? [] : [Math.ceil((scaled * percentage) / 100)];
  const wanted = [...share, ...(replicas === undefined ? [] : [replicas])];
  const most = limits === undefined ? undefined : withinLimits(limits, spec);
  if (wanted.length === 0) return most ?? 0;
  return Math.min(Math.max(...wanted), most ?? Number.POSITIVE_INFINITY);
}

/** How many pods the limits allow; undefined if they limit no resource that the pod requests. */
function withinLimits(limits: NonNullable<CapacityBufferSpec['limits']>, spec: PodSpec): number | undefined {
  const requests = podRequests({ spec });
  const counts = Object.entries(resourceAmounts(limits)).flatMap(([name, limit]) => {
    const request = requests[name] ?? 0n;
    return request > 0n ? [Number(limit / request)] : [];
  });
  return counts.length === 0 ? undefined : Math.max(0, Math.min(...counts));
}
