/** The columns of the remaining core kinds. */
import type { Event } from '../../../../apis/kubernetes/event.ts';
import type { KubeObject } from '../../../../apis/kubernetes/object.ts';
import type { ResourceList } from '../../../../apis/kubernetes/pod.ts';
import { AGE, age, type Column, column, NAME, wideColumn } from './column.ts';
import { pairs } from './workload-columns.ts';

type Keyed = Readonly<Record<string, unknown>> | undefined;

/** The creation time, for kinds that show it instead of an age. */
export const CREATED_AT: readonly Column[] = [
  column('Created At', ({ metadata }) => metadata.creationTimestamp ?? null, { type: 'date' }),
];

const size = (...maps: Keyed[]): string => String(maps.reduce((sum, map) => sum + Object.keys(map ?? {}).length, 0));

export const CONFIG_MAP_COLUMNS: readonly Column[] = [
  column<KubeObject & { readonly data?: Keyed; readonly binaryData?: Keyed }>('Data', ({ data, binaryData }) =>
    size(data, binaryData),
  ),
  AGE,
];

export const SECRET_COLUMNS: readonly Column[] = [
  column<KubeObject & { readonly type?: string }>('Type', ({ type }) => type ?? ''),
  column<KubeObject & { readonly data?: Keyed }>('Data', ({ data }) => size(data)),
  AGE,
];

export const NAMESPACE_COLUMNS: readonly Column[] = [
  column<KubeObject & { readonly status?: { readonly phase?: string } }>('Status', ({ status }) => status?.phase ?? ''),
  AGE,
];

interface EventSeries {
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string };
  readonly eventTime?: string | null;
  readonly involvedObject: Event['involvedObject'] & { readonly fieldPath?: string };
}

type AnyEvent = Event & EventSeries;

const lastSeen = (event: AnyEvent): string | undefined =>
  event.series?.lastObservedTime ?? event.lastTimestamp ?? event.eventTime ?? undefined;

export const EVENT_COLUMNS: readonly Column[] = [
  column<AnyEvent>('Last Seen', (event, now) => age(lastSeen(event), now)),
  column<AnyEvent>('Type', ({ type }) => type ?? ''),
  column<AnyEvent>('Reason', ({ reason }) => reason ?? ''),
  column<AnyEvent>('Object', ({ involvedObject }) => `${involvedObject?.kind?.toLowerCase()}/${involvedObject?.name}`),
  wideColumn<AnyEvent>('Subobject', ({ involvedObject }) => involvedObject?.fieldPath ?? ''),
  wideColumn<AnyEvent>('Source', ({ source, reportingComponent }) => source?.component ?? reportingComponent ?? ''),
  column<AnyEvent>('Message', ({ message }) => (message ?? '').trim()),
  wideColumn<AnyEvent>('First Seen', (event, now) => age(event.firstTimestamp ?? event.eventTime ?? undefined, now)),
  wideColumn<AnyEvent>('Count', ({ count, series }) => String(series?.count ?? count ?? 1)),
  { ...NAME, definition: { ...NAME.definition, priority: 1 } },
];

interface Service extends KubeObject {
  readonly spec?: {
    readonly type?: string;
    readonly clusterIP?: string;
    readonly externalIPs?: readonly string[];
    readonly externalName?: string;
    readonly selector?: Readonly<Record<string, string>>;
    readonly ports?: readonly { readonly port: number; readonly nodePort?: number; readonly protocol?: string }[];
  };
  readonly status?: {
    readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string; readonly hostname?: string }[] };
  };
}

export const SERVICE_COLUMNS: readonly Column[] = [
  column<Service>('Type', ({ spec }) => spec?.type ?? 'ClusterIP'),
  column<Service>('Cluster-IP', ({ spec }) => spec?.clusterIP || undefined),
  column<Service>('External-IP', (service) => externalAddress(service)),
  column<Service>('Port(s)', ({ spec }) => {
    const ports = (spec?.ports ?? []).map(({ port, nodePort, protocol = 'TCP' }) =>
      nodePort ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`,
    );
    return ports.length === 0 ? undefined : ports.join(',');
  }),
  AGE,
  wideColumn<Service>('Selector', ({ spec }) => pairs(spec?.selector)),
];

function externalAddress({ spec, status }: Service): string | undefined {
  const given = (spec?.externalIPs ?? []).join(',') || undefined;
  if (spec?.type === 'ExternalName') return spec.externalName;
  if (spec?.type !== 'LoadBalancer') return given;
  const ingress = (status?.loadBalancer?.ingress ?? []).map(({ ip, hostname }) => ip ?? hostname ?? '').join(',');
  return [ingress, given].filter(Boolean).join(',') || '<pending>';
}

interface Quota extends KubeObject {
  readonly spec?: { readonly hard?: ResourceList };
  readonly status?: { readonly hard?: ResourceList; readonly used?: ResourceList };
}

const quotaText = ({ spec, status }: Quota, limits: boolean): string =>
  Object.entries(status?.hard ?? spec?.hard ?? {})
    .filter(([name]) => name.startsWith('limits.') === limits)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, hard]) => `${name}: ${status?.used?.[name] ?? '0'}/${hard}`)
    .join(', ');

export const QUOTA_COLUMNS: readonly Column[] = [
  column<Quota>('Request', (quota) => quotaText(quota, false)),
  column<Quota>('Limit', (quota) => quotaText(quota, true)),
  AGE,
];

interface Endpoints extends KubeObject {
  readonly subsets?: readonly {
    readonly addresses?: readonly { readonly ip: string }[];
    readonly ports?: readonly { readonly port: number }[];
  }[];
}

export const ENDPOINTS_COLUMNS: readonly Column[] = [
  column<Endpoints>('Endpoints', ({ subsets }) => {
    const all = (subsets ?? []).flatMap(({ addresses = [], ports = [] }) =>
      addresses.flatMap(({ ip }) => (ports.length === 0 ? [ip] : ports.map(({ port }) => `${ip}:${port}`))),
    );
    return shortList(all);
  }),
  AGE,
];

/** The first three items, and the number of further ones. */
export function shortList(items: readonly string[]): string | undefined {
  if (items.length === 0) return undefined;
  const shown = items.slice(0, 3).join(',');
  return items.length > 3 ? `${shown} + ${items.length - 3} more...` : shown;
}
