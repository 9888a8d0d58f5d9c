/** The columns of budgets, roles, leases, autoscalers, networks and extensions. */
import type { Lease } from '../../../../apis/kubernetes/lease.ts';
import type { KubeObject } from '../../../../apis/kubernetes/object.ts';
import type { LabelSelector } from '../../../../apis/kubernetes/pod.ts';
import type { PodDisruptionBudget } from '../../../../apis/kubernetes/pod-disruption-budget.ts';
import { AGE, type Column, column, countColumn, wideColumn } from './column.ts';
import { shortList } from './core-columns.ts';
import { selectorText } from './workload-columns.ts';

export const BUDGET_COLUMNS: readonly Column[] = [
  column<PodDisruptionBudget>('Min Available', ({ spec }) => String(spec.minAvailable ?? 'N/A')),
  column<PodDisruptionBudget>('Max Unavailable', ({ spec }) => String(spec.maxUnavailable ?? 'N/A')),
  countColumn<PodDisruptionBudget>('Allowed Disruptions', ({ status }) => status?.disruptionsAllowed),
  AGE,
];

export const LEASE_COLUMNS: readonly Column[] = [
  column<Lease>('Holder', ({ spec }) => spec?.holderIdentity ?? ''),
  AGE,
];

interface PriorityClass extends KubeObject {
  readonly value?: number;
  readonly globalDefault?: boolean;
  readonly preemptionPolicy?: string;
}

export const PRIORITY_CLASS_COLUMNS: readonly Column[] = [
  countColumn<PriorityClass>('Value', ({ value }) => value),
  column<PriorityClass>('Global-Default', ({ globalDefault }) => globalDefault ?? false, { type: 'boolean' }),
  AGE,
  column<PriorityClass>('PreemptionPolicy', ({ preemptionPolicy }) => preemptionPolicy ?? 'PreemptLowerPriority'),
];

interface RoleBinding extends KubeObject {
  readonly roleRef?: { readonly kind?: string; readonly name?: string };
  readonly subjects?: readonly { readonly kind: string; readonly name: string; readonly namespace?: string }[];
}

const subjects = (binding: RoleBinding, kind: string): string =>
  (binding.subjects ?? [])
    .filter((subject) => subject.kind === kind)
    .map(({ name, namespace }) => (kind === 'ServiceAccount' ? `${namespace}/${name}` : name))
    .join(', ');

export const ROLE_BINDING_COLUMNS: readonly Column[] = [
  column<RoleBinding>('Role', ({ roleRef }) => `${roleRef?.kind}/${roleRef?.name}`),
  AGE,
  wideColumn<RoleBinding>('Users', (binding) => subjects(binding, 'User')),
  wideColumn<RoleBinding>('Groups', (binding) => subjects(binding, 'Group')),
  wideColumn<RoleBinding>('ServiceAccounts', (binding) => subjects(binding, 'ServiceAccount')),
];

interface Autoscaler extends KubeObject {
  readonly spec?: {
    readonly scaleTargetRef?: { readonly kind?: string; readonly name?: string };
    readonly minReplicas?: number;
    readonly maxReplicas?: number;
  };
  readonly status?: { readonly currentReplicas?: number };
}

export const AUTOSCALER_COLUMNS: readonly Column[] = [
  column<Autoscaler>('Reference', ({ spec }) => `${spec?.scaleTargetRef?.kind}/${spec?.scaleTargetRef?.name}`),
  column<Autoscaler>('Targets', () => '<unknown>'),
  column<Autoscaler>('MinPods', ({ spec }) => String(spec?.minReplicas ?? '<unset>')),
  column<Autoscaler>('MaxPods', ({ spec }) => spec?.maxReplicas ?? 0),
  column<Autoscaler>('Replicas', ({ status }) => status?.currentReplicas ?? 0),
  AGE,
];

interface Ingress extends KubeObject {
  readonly spec?: {
    readonly ingressClassName?: string;
    readonly tls?: readonly unknown[];
    readonly rules?: readonly { readonly host?: string }[];
  };
  readonly status?: {
    readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string; readonly hostname?: string }[] };
  };
}

export const INGRESS_COLUMNS: readonly Column[] = [
  column<Ingress>('Class', ({ spec }) => spec?.ingressClassName),
  column<Ingress>('Hosts', ({ spec }) => shortList((spec?.rules ?? []).flatMap(({ host }) => host ?? [])) ?? '*'),
  column<Ingress>('Address', ({ status }) =>
    (status?.loadBalancer?.ingress ?? []).map(({ ip, hostname }) => ip ?? hostname ?? '').join(','),
  ),
  column<Ingress>('Ports', ({ spec }) => ((spec?.tls ?? []).length > 0 ? '80, 443' : '80')),
  AGE,
];

export const INGRESS_CLASS_COLUMNS: readonly Column[] = [
  column<KubeObject & { readonly spec?: { readonly controller?: string } }>(
    'Controller',
    ({ spec }) => spec?.controller ?? '',
  ),
  column<KubeObject & { readonly spec?: { readonly parameters?: { readonly kind?: string; readonly name?: string } } }>(
    'Parameters',
    ({ spec }) => (spec?.parameters === undefined ? undefined : `${spec.parameters.kind}/${spec.parameters.name}`),
  ),
  AGE,
];

export const NETWORK_POLICY_COLUMNS: readonly Column[] = [
  column<KubeObject & { readonly spec?: { readonly podSelector?: LabelSelector } }>('Pod-Selector', ({ spec }) =>
    selectorText(spec?.podSelector),
  ),
  AGE,
];

interface EndpointSlice extends KubeObject {
  readonly addressType?: string;
  readonly ports?: readonly { readonly port?: number }[];
  readonly endpoints?: readonly { readonly addresses?: readonly string[] }[];
}

export const ENDPOINT_SLICE_COLUMNS: readonly Column[] = [
  column<EndpointSlice>('AddressType', ({ addressType }) => addressType ?? ''),
  column<EndpointSlice>(
    'Ports',
    ({ ports }) => shortList((ports ?? []).map(({ port }) => String(port ?? '*'))) ?? '<unset>',
  ),
  column<EndpointSlice>(
    'Endpoints',
    ({ endpoints }) => shortList((endpoints ?? []).flatMap(({ addresses }) => addresses ?? [])) ?? '<unset>',
  ),
  AGE,
];

export const RUNTIME_CLASS_COLUMNS: readonly Column[] = [
  column<KubeObject & { readonly handler?: string }>('Handler', ({ handler }) => handler ?? ''),
  AGE,
];

export const WEBHOOK_COLUMNS: readonly Column[] = [
  countColumn<KubeObject & { readonly webhooks?: readonly unknown[] }>('Webhooks', ({ webhooks }) => webhooks?.length),
  AGE,
];

interface ApiService extends KubeObject {
  readonly spec?: { readonly service?: { readonly namespace?: string; readonly name?: string } };
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason?: string }[];
  };
}

export const API_SERVICE_COLUMNS: readonly Column[] = [
  column<ApiService>('Service', ({ spec }) =>
    spec?.service === undefined ? 'Local' : `${spec.service.namespace}/${spec.service.name}`,
  ),
  column<ApiService>('Available', ({ status }) => {
    const available = status?.conditions?.find(({ type }) => type === 'Available');
    if (available === undefined) return 'Unknown';
    return available.status === 'True' ? 'True' : `${available.status} (${available.reason ?? ''})`;
  }),
  AGE,
];

interface AdmissionPolicy extends KubeObject {
  readonly spec?: {
    readonly validations?: readonly unknown[];
    readonly paramKind?: { apiVersion: string; kind: string };
  };
}

export const ADMISSION_POLICY_COLUMNS: readonly Column[] = [
  countColumn<AdmissionPolicy>('Validations', ({ spec }) => spec?.validations?.length),
  column<AdmissionPolicy>('ParamKind', ({ spec }) =>
    spec?.paramKind === undefined ? '<unset>' : `${spec.paramKind.apiVersion}/${spec.paramKind.kind}`,
  ),
  AGE,
];

interface AdmissionPolicyBinding extends KubeObject {
  readonly spec?: { readonly policyName?: string; readonly paramRef?: { readonly name?: string } };
}

export const ADMISSION_POLICY_BINDING_COLUMNS: readonly Column[] = [
  column<AdmissionPolicyBinding>('PolicyName', ({ spec }) => spec?.policyName ?? ''),
  column<AdmissionPolicyBinding>('ParamRef', ({ spec }) => spec?.paramRef?.name ?? '<unset>'),
  AGE,
];
