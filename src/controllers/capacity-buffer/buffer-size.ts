/** For how many pods a CapacityBuffer has room. Pure. */
import type { CapacityBufferSpec } from '../../apis/autoscaling/capacity-buffer.ts';
import type { PodSpec } from '../../apis/kubernetes/pod.ts';
import { podRequests, resourceAmounts } from '../../apis/kubernetes/pod-requests.ts';

/**
 * The larger one of `replicas` and `percentage`, and no more than `limits` allow; where neither is given, as many as these allow.
 * `scaled` is how many replicas the object behind scalableRef has.
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

/** How many pods the limits allow; undefined where they limit nothing that the pod asks for. */
function withinLimits(limits: NonNullable<CapacityBufferSpec['limits']>, spec: PodSpec): number | undefined {
  const requests = podRequests({ spec });
  const counts = Object.entries(resourceAmounts(limits)).flatMap(([name, limit]) => {
    const request = requests[name] ?? 0n;
    return request > 0n ? [Number(limit / request)] : [];
  });
  return counts.length === 0 ? undefined : Math.max(0, Math.min(...counts));
}
