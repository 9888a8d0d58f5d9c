/** How long models take to load, learnt from the pods that serve them. Pure. */
import type { Pod } from '../apis/kubernetes/pod.ts';
import { parseTimestamp } from '../platform/clock.ts';
import { modelName } from './model-flavors.ts';

/** What is known of the loading time of a model. */
export interface LoadingTime {
  readonly model: string;
  /** From the start of a pod on its node, images and init containers that fetch the model included, until it was ready: the median. */
  readonly ms: number;
  /** Of so many pods. */
  readonly pods: number;
}

/** How long a pod took from its start on its node until it was ready; undefined while it is not. */
export function loadingMs({ status }: Pod): number | undefined {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.status !== 'True') return undefined;
  const from = parseTimestamp(status?.startTime);
  const until = parseTimestamp(ready.lastTransitionTime);
  return from === undefined || until === undefined || until < from ? undefined : until - from;
}

/** The loading time of a model by the pods that serve it; a pod that was ready, failed and recovered is outvoted by the others. */
export function loadingTime(model: string, pods: Iterable<Pod>): LoadingTime | undefined {
  const times: number[] = [];
  for (const pod of pods) {
    const ms = modelName(pod) === model ? loadingMs(pod) : undefined;
    if (ms !== undefined) times.push(ms);
  }
  const median = times.sort((a, b) => a - b)[times.length >> 1];
  return median === undefined ? undefined : { model, ms: median, pods: times.length };
}
