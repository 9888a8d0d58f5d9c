import { parseCron } from '../../../../apis/karpenter/cron.ts';
import { hasCode } from '../../../../platform/errors.ts';
import { sameJson } from '../../../frozen.ts';
import { type FieldError, invalid, notSupported, required } from '../../schema/field-error.ts';
import type { Draft, Fields, KindRules } from '../kind.ts';
import { validatePodSpec } from './pod-validation.ts';
import { templateDefaults } from './workload-rules.ts';

const RESTART_POLICIES = ['OnFailure', 'Never'];
const FIXED = ['selector', 'template', 'completionMode', 'podFailurePolicy', 'backoffLimitPerIndex'];

/** A Job selects its pods by its own uid, unless manualSelector is set. */
export const jobRules: KindRules = {
  defaults: (object) => (object.spec === undefined ? object : { ...object, spec: jobDefaults(object.spec) }),
  prepareCreate: (object) => {
    const spec = object.spec ?? {};
    if (spec.manualSelector === true) return object;
    const { uid = '', name = '' } = object.metadata;
    const labels = {
      'batch.kubernetes.io/controller-uid': uid,
      'batch.kubernetes.io/job-name': name,
      'controller-uid': uid,
      'job-name': name,
    };
    const template = (spec.template as { readonly metadata?: Fields } | undefined) ?? {};
    const metadata = { ...template.metadata, labels: { ...(template.metadata?.labels as Fields), ...labels } };
    const selector = { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } };
    const own = { ...object.metadata, labels: { ...object.metadata.labels, ...labels } };
    return { ...object, metadata: own, spec: { ...spec, selector, template: { ...template, metadata } } };
  },
  validate: validateJob,
};

function jobDefaults(spec: Fields): Fields {
  const counts =
    spec.completions === undefined && spec.parallelism === undefined ? { completions: 1, parallelism: 1 } : {};
  return {
    ...counts,
    parallelism: 1,
    backoffLimit: 6,
    completionMode: 'NonIndexed',
    suspend: false,
    manualSelector: false,
    podReplacementPolicy: 'TerminatingOrFailed',
    ...spec,
    ...templateDefaults(spec),
  };
}

function validateJob(object: Draft, old?: Draft): FieldError[] {
  const spec = object.spec ?? {};
  const template = spec.template as { readonly spec?: { readonly restartPolicy?: string } } | undefined;
  const errors = validatePodSpec(template?.spec as never, 'spec.template.spec');
  const policy = template?.spec?.restartPolicy;
  if (policy === undefined || policy === 'Always')
    errors.push(required('spec.template.spec.restartPolicy', 'valid values: "OnFailure", "Never"'));
  else if (!RESTART_POLICIES.includes(policy)) {
    errors.push(notSupported('spec.template.spec.restartPolicy', policy, RESTART_POLICIES));
  }
  if (old === undefined) return errors;
  const before = old.spec ?? {};
  for (const field of FIXED) {
    // The template of a suspended Job may still change.
    if (field === 'template' && before.suspend === true) continue;
    if (!sameJson(spec[field], before[field]))
      errors.push(invalid(`spec.${field}`, spec[field] as never, 'field is immutable'));
  }
  return errors;
}

export const cronJobRules: KindRules = {
  defaults: (object) => (object.spec === undefined ? object : { ...object, spec: cronJobDefaults(object.spec) }),
  validate: ({ spec }) => {
    const { schedule, timeZone } = spec ?? {};
    if (typeof schedule !== 'string' || schedule === '') return [required('spec.schedule')];
    return [
      ...cronProblem('spec.schedule', schedule, schedule),
      ...(typeof timeZone === 'string' ? cronProblem('spec.timeZone', timeZone, `TZ=${timeZone} @daily`) : []),
    ];
  },
};

function cronProblem(field: string, value: string, text: string): ReturnType<typeof invalid>[] {
  try {
    parseCron(text);
    return [];
  } catch (error) {
    if (!hasCode(error, 'CRON_INVALID')) throw error;
    return [invalid(field, value, error.message)];
  }
}

function cronJobDefaults(spec: Fields): Fields {
  const jobTemplate = spec.jobTemplate as { readonly spec?: Fields } | undefined;
  const job = jobTemplate?.spec;
  return {
    concurrencyPolicy: 'Allow',
    suspend: false,
    successfulJobsHistoryLimit: 3,
    failedJobsHistoryLimit: 1,
    ...spec,
    ...(job && { jobTemplate: { ...jobTemplate, spec: { ...job, ...templateDefaults(job) } } }),
  };
}
