/** Metrics of model loading times. */
import type { Pod } from '../../apis/kubernetes/pod.ts';
import type { Informer } from '../../kube/informer.ts';
import type { HistogramMetric, Metrics } from '../../platform/metrics.ts';
import { modelName } from '../../state/model-flavors.ts';
import { loadingMs } from '../../state/model-loading.ts';

/** Observes each pod that serves a model once, when it is ready for the first time. */
export class ModelMetrics {
  readonly #loading: HistogramMetric<'model'>;
  /** UIDs of pods that have been ready: one that recovers has not loaded anything. */
  readonly #served = new Set<string>();

  constructor({ metrics }: { readonly metrics: Metrics }) {
    this.#loading = metrics.histogram({
      name: 'spindrift_models_loading_duration_seconds',
      help: 'From the start of a pod on its node until it serves its model, in seconds, per OpenModel',
      labels: ['model'],
    });
  }

  /** Observes the pods of an informer for as long as it runs. */
  follow(pods: Pick<Informer<Pod>, 'addHandler'>): void {
    pods.addHandler({
      // Pods that were ready before this process started were not observed.
      added: (pod) => {
        if (modelName(pod) !== undefined && loadingMs(pod) !== undefined) this.#served.add(pod.metadata.uid ?? '');
      },
      updated: (pod) => {
        const { uid = '' } = pod.metadata;
        const model = modelName(pod);
        const ms = model === undefined || this.#served.has(uid) ? undefined : loadingMs(pod);
        if (model === undefined || ms === undefined) return;
        this.#served.add(uid);
        this.#loading.observe({ model }, ms / 1000);
      },
      deleted: ({ metadata }) => void this.#served.delete(metadata.uid ?? ''),
    });
  }
}
