/** Pods for the tests of decisions: small, valid, with overrides. */
import type { ObjectMeta } from '../../apis/kubernetes/object.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { type EpochMs, toTimestamp } from '../../platform/clock.ts';

/** When all objects in these tests were created. */
export const T0 = 1_893_456_000_000 as EpochMs;

/** This long after T0. */
export function later(milliseconds: number): EpochMs {
  return (T0 + milliseconds) as EpochMs;
}

export function aPod(
  parts: { name?: string; metadata?: Partial<ObjectMeta>; spec?: Partial<Pod['spec']>; status?: Pod['status'] } = {},
): Pod {
  const { name = 'pod', metadata, spec, status } = parts;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', uid: `uid-${name}`, ...metadata },
    spec: { containers: [{ name: 'main' }], nodeName: 'node', ...spec },
    status: { phase: 'Running', startTime: toTimestamp(T0), ...status },
  };
}
