/** `batch/v1` and `autoscaling/v2`. */

import { builtIn } from './built-in.ts';
import { AUTOSCALER_COLUMNS } from './columns/policy-columns.ts';
import { CRON_JOB_COLUMNS, JOB_COLUMNS } from './columns/workload-columns.ts';
import type { Kind } from './kind.ts';
import { cronJobRules, jobRules } from './rules/job-rules.ts';

export const BATCH_KINDS: readonly Kind[] = [
  builtIn('autoscaling/v2', 'HorizontalPodAutoscaler', 'horizontalpodautoscalers', 'namespaced', {
    shortNames: ['hpa'],
    columns: AUTOSCALER_COLUMNS,
    categories: ['all'],
    status: true,
  }),
  builtIn('batch/v1', 'CronJob', 'cronjobs', 'namespaced', {
    shortNames: ['cj'],
    columns: CRON_JOB_COLUMNS,
    rules: cronJobRules,
    categories: ['all'],
    status: true,
    generation: true,
  }),
  builtIn('batch/v1', 'Job', 'jobs', 'namespaced', {
    columns: JOB_COLUMNS,
    rules: jobRules,
    categories: ['all'],
    status: true,
    generation: true,
    selectableFields: {
      'status.successful': (job: { readonly status?: { readonly succeeded?: number } }) =>
        String(job.status?.succeeded ?? 0),
    },
  }),
];
