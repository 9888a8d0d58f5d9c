/** The columns of the kinds that own pods. */
import { compileLabelSelector, formatLabelSelector } from '../../../../apis/kubernetes/label-selector.ts';
import type { KubeObject } from '../../../../apis/kubernetes/object.ts';
import type { LabelSelector, PodSpec } from '../../../../apis/kubernetes/pod.ts';
import { parseTimestamp } from '../../../../platform/clock.ts';
import { AGE, age, type Column, column, countColumn, humanDuration, wideColumn } from './column.ts';

interface Workload extends KubeObject {
  readonly spec?: {
    readonly replicas?: number;
    readonly selector?: LabelSelector | Readonly<Record<string, string>>;
    readonly template?: { readonly spec?: PodSpec };
  };
  readonly status?: Readonly<Record<string, number | undefined>>;
}

interface Job extends KubeObject {
  readonly spec?: {
    readonly completions?: number;
    readonly parallelism?: number;
    readonly suspend?: boolean;
    readonly selector?: LabelSelector;
    readonly template?: { readonly spec?: PodSpec };
  };
  readonly status?: {
    readonly succeeded?: number;
    readonly startTime?: string;
    readonly completionTime?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

interface CronJob extends KubeObject {
  readonly spec?: {
    readonly schedule?: string;
    readonly timeZone?: string;
    readonly suspend?: boolean;
    readonly jobTemplate?: { readonly spec?: Job['spec'] };
  };
  readonly status?: { readonly active?: readonly unknown[]; readonly lastScheduleTime?: string };
}

const CONTAINERS = wideColumn<Workload>('Containers', ({ spec }) => containerNames(spec?.template?.spec));
const IMAGES = wideColumn<Workload>('Images', ({ spec }) => containerImages(spec?.template?.spec));
const SELECTOR = wideColumn<Workload>('Selector', ({ spec }) => selectorText(spec?.selector));
const POD_COLUMNS = [CONTAINERS, IMAGES, SELECTOR];

function status(name: string): (workload: Workload) => number {
  return (workload) => workload.status?.[name] ?? 0;
}

export const DEPLOYMENT_COLUMNS: readonly Column[] = [
  column<Workload>('Ready', (workload) => `${status('readyReplicas')(workload)}/${workload.spec?.replicas ?? 0}`),
  column<Workload>('Up-to-date', status('updatedReplicas')),
  column<Workload>('Available', status('availableReplicas')),
  AGE,
  ...POD_COLUMNS,
];

/** Columns of ReplicaSets and ReplicationControllers. */
export const REPLICA_SET_COLUMNS: readonly Column[] = [
  countColumn<Workload>('Desired', ({ spec }) => spec?.replicas),
  countColumn<Workload>('Current', status('replicas')),
  countColumn<Workload>('Ready', status('readyReplicas')),
  AGE,
  ...POD_COLUMNS,
];

export const STATEFUL_SET_COLUMNS: readonly Column[] = [
  column<Workload>('Ready', (workload) => `${status('readyReplicas')(workload)}/${workload.spec?.replicas ?? 0}`),
  AGE,
  CONTAINERS,
  IMAGES,
];

export const DAEMON_SET_COLUMNS: readonly Column[] = [
  countColumn<Workload>('Desired', status('desiredNumberScheduled')),
  countColumn<Workload>('Current', status('currentNumberScheduled')),
  countColumn<Workload>('Ready', status('numberReady')),
  countColumn<Workload>('Up-to-date', status('updatedNumberScheduled')),
  countColumn<Workload>('Available', status('numberAvailable')),
  column<Workload>('Node Selector', ({ spec }) => pairs(spec?.template?.spec?.nodeSelector)),
  AGE,
  ...POD_COLUMNS,
];

export const CONTROLLER_REVISION_COLUMNS: readonly Column[] = [
  column('Controller', ({ metadata }) => {
    const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
    return owner === undefined
      ? undefined
      : `${owner.kind.toLowerCase()}.${owner.apiVersion.split('/')[0]}/${owner.name}`;
  }),
  column<KubeObject & { readonly revision?: number }>('Revision', ({ revision }) => String(revision ?? 0)),
  AGE,
];

export const POD_TEMPLATE_COLUMNS: readonly Column[] = [
  column<KubeObject & { readonly template?: { readonly spec?: PodSpec } }>('Containers', ({ template }) =>
    containerNames(template?.spec),
  ),
  column<KubeObject & { readonly template?: { readonly spec?: PodSpec } }>('Images', ({ template }) =>
    containerImages(template?.spec),
  ),
  column<KubeObject & { readonly template?: KubeObject }>('Pod Labels', ({ template }) =>
    pairs(template?.metadata?.labels),
  ),
];

export const JOB_COLUMNS: readonly Column[] = [
  column<Job>('Status', (job) => jobStatus(job)),
  column<Job>('Completions', ({ spec, status: now }) => {
    const done = now?.succeeded ?? 0;
    if (spec?.completions !== undefined) return `${done}/${spec.completions}`;
    const parallelism = spec?.parallelism ?? 1;
    return parallelism > 1 ? `${done}/1 of ${parallelism}` : `${done}/1`;
  }),
  column<Job>('Duration', ({ status: now }, time) => {
    const start = parseTimestamp(now?.startTime);
    if (start === undefined) return '';
    return humanDuration((parseTimestamp(now?.completionTime) ?? time) - start);
  }),
  AGE,
  ...POD_COLUMNS,
];

export const CRON_JOB_COLUMNS: readonly Column[] = [
  column<CronJob>('Schedule', ({ spec }) => spec?.schedule ?? ''),
  column<CronJob>('Timezone', ({ spec }) => spec?.timeZone),
  column<CronJob>('Suspend', ({ spec }) => spec?.suspend ?? false, { type: 'boolean' }),
  countColumn<CronJob>('Active', ({ status: now }) => now?.active?.length),
  column<CronJob>('Last Schedule', ({ status: now }, time) =>
    now?.lastScheduleTime === undefined ? undefined : age(now.lastScheduleTime, time),
  ),
  AGE,
  wideColumn<CronJob>('Containers', ({ spec }) => containerNames(spec?.jobTemplate?.spec?.template?.spec)),
  wideColumn<CronJob>('Images', ({ spec }) => containerImages(spec?.jobTemplate?.spec?.template?.spec)),
  wideColumn<CronJob>('Selector', ({ spec }) => selectorText(spec?.jobTemplate?.spec?.selector)),
];

function jobStatus({ metadata, spec, status: now }: Job): string {
  const has = (type: string): boolean =>
    now?.conditions?.some((condition) => condition.type === type && condition.status === 'True') === true;
  if (has('Complete')) return 'Complete';
  if (has('Failed')) return 'Failed';
  if (metadata.deletionTimestamp !== undefined) return 'Terminating';
  if (has('Suspended') || spec?.suspend === true) return 'Suspended';
  if (has('FailureTarget')) return 'FailureTarget';
  return has('SuccessCriteriaMet') ? 'SuccessCriteriaMet' : 'Running';
}

function containerNames(spec: PodSpec | undefined): string {
  return (spec?.containers ?? []).map(({ name }) => name).join(',');
}

function containerImages(spec: PodSpec | undefined): string {
  return (spec?.containers ?? []).map(({ image }) => image ?? '').join(',');
}

/** `a=b,c=d`; undefined without labels. */
export function pairs(labels: Readonly<Record<string, string>> | undefined): string | undefined {
  const entries = Object.entries(labels ?? {});
  return entries.length === 0
    ? undefined
    : entries
        .map(([key, value]) => `${key}=${value}`)
        .sort()
        .join(',');
}

/** A label selector, or a plain map of labels, as kubectl prints it. */
export function selectorText(
  selector: LabelSelector | Readonly<Record<string, string>> | undefined,
): string | undefined {
  if (selector === undefined || Object.keys(selector).length === 0) return undefined;
  const isObject = 'matchLabels' in selector || 'matchExpressions' in selector;
  const labels = isObject ? (selector as LabelSelector) : { matchLabels: selector as Record<string, string> };
  return formatLabelSelector(compileLabelSelector(labels)) || undefined;
}
