/** Loading times of models, learnt from the pods that serve them. */
import type { Pod } from '../apis/kubernetes/pod.ts';
import type { Informer } from '../kube/informer.ts';
import { parseTimestamp } from '../platform/clock.ts';
import { modelName } from './model-flavors.ts';

/** The loading time of a model. */
export interface LoadingTime {
  readonly model: string;
  /** Median time from the start of a pod on its node until it was ready, with image pulls and the init containers that fetch the model. */
  readonly ms: number;
  /** The number of pods that were measured. */
  readonly pods: number;
}

/** The time from a pod's start on its node until it was ready; undefined while it is not ready. */
export function loadingMs({ status }: Pod): number | undefined {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.status !== 'True') return undefined;
  const from = parseTimestamp(status?.startTime);
  const until = parseTimestamp(ready.lastTransitionTime);
  return from === undefined || until === undefined || until < from ? undefined : until - from;
}

/** The loading time of a model by the pods that run. The median outvotes a pod that was ready, failed and recovered. */
export function loadingTime(model: string, pods: Iterable<Pod>): LoadingTime | undefined {
  const times: number[] = [];
  for (const pod of pods) {
    const ms = modelName(pod) === model ? loadingMs(pod) : undefined;
    if (ms !== undefined) times.push(ms);
  }
  return timeOf(model, times);
}

function timeOf(model: string, times: readonly number[]): LoadingTime | undefined {
  const median = times.toSorted((a, b) => a - b)[times.length >> 1];
  return median === undefined ? undefined : { model, ms: median, pods: times.length };
}

/** Pods of a model that count, the latest first: image pulls and downloads change over time. */
const REMEMBERED = 32;

/** Remembers the loading times of models, also after their pods are gone. */
export class LoadingTimes {
  readonly #times = new Map<string, number[]>();
  /** UIDs of pods that have been ready before: a pod that recovers has not loaded the model again. */
  readonly #served = new Set<string>();

  constructor(pods: Pick<Informer<Pod>, 'addHandler'>) {
    const seen = (pod: Pod): void => {
      const { uid = '' } = pod.metadata;
      const model = modelName(pod);
      const ms = model === undefined || this.#served.has(uid) ? undefined : loadingMs(pod);
      if (model === undefined || ms === undefined) return;
      this.#served.add(uid);
      this.#times.set(model, [...(this.#times.get(model) ?? []), ms].slice(-REMEMBERED));
    };
    pods.addHandler({
      added: seen,
      updated: seen,
      deleted: ({ metadata }) => void this.#served.delete(metadata.uid ?? ''),
    });
  }

  /** The loading time of a pod's model; undefined for pods without a model, and before a pod of the model was ready. */
  ofPod(pod: Pod): LoadingTime | undefined {
    const model = modelName(pod);
    return model === undefined ? undefined : timeOf(model, this.#times.get(model) ?? []);
  }
}
