/** `batch/v1` and `autoscaling/v2`. */
import { builtIn } from './built-in.ts';
import type { Kind } from './kind.ts';

export const BATCH_KINDS: readonly Kind[] = [
  builtIn('autoscaling/v2', 'HorizontalPodAutoscaler', 'horizontalpodautoscalers', 'namespaced', {
    shortNames: ['hpa'],
    categories: ['all'],
    status: true,
  }),
  builtIn('batch/v1', 'CronJob', 'cronjobs', 'namespaced', {
    shortNames: ['cj'],
    categories: ['all'],
    status: true,
    generation: true,
  }),
  builtIn('batch/v1', 'Job', 'jobs', 'namespaced', {
    categories: ['all'],
    status: true,
    generation: true,
    selectableFields: {
      'status.successful': (job: { readonly status?: { readonly succeeded?: number } }) =>
        String(job.status?.succeeded ?? 0),
    },
  }),
];
