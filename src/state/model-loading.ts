/** How long models take to load, learnt from the pods that serve them. */
import type { Pod } from '../apis/kubernetes/pod.ts';
import type { Informer } from '../kube/informer.ts';
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
  return timeOf(model, times);
}

function timeOf(model: string, times: readonly number[]): LoadingTime | undefined {
  const median = times.toSorted((a, b) => a - b)[times.length >> 1];
  return median === undefined ? undefined : { model, ms: median, pods: times.length };
}

/** So many of the latest pods of a model tell how long it takes: images and hubs get faster and slower. */
const REMEMBERED = 32;

/** Remembers how long models took to load, also when all of their pods are gone. */
export class LoadingTimes {
  readonly #times = new Map<string, number[]>();
  /** UIDs of pods that have been ready: one that recovers has not loaded anything. */
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

  /** How long the model of a pod takes to load; undefined where it serves none, or none has been seen ready. */
  ofPod(pod: Pod): LoadingTime | undefined {
    const model = modelName(pod);
    return model === undefined ? undefined : timeOf(model, this.#times.get(model) ?? []);
  }
}
