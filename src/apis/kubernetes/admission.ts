/** Admission webhooks and policies, with the fields that are read. */
import { type KubeObject, resource } from './object.ts';

export interface WebhookRule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
}

export interface Webhook {
  readonly name: string;
  readonly failurePolicy?: 'Fail' | 'Ignore';
  readonly clientConfig: {
    readonly url?: string;
    readonly service?: { readonly namespace: string; readonly name: string };
  };
  readonly rules?: readonly WebhookRule[];
}

export interface WebhookConfiguration extends KubeObject {
  readonly webhooks?: readonly Webhook[];
}

const API = 'admissionregistration.k8s.io/v1';

export const VALIDATING_WEBHOOKS = resource<WebhookConfiguration>(
  API,
  'ValidatingWebhookConfiguration',
  'validatingwebhookconfigurations',
  'cluster',
);
export const MUTATING_WEBHOOKS = resource<WebhookConfiguration>(
  API,
  'MutatingWebhookConfiguration',
  'mutatingwebhookconfigurations',
  'cluster',
);
export const VALIDATING_POLICIES = resource<KubeObject>(
  API,
  'ValidatingAdmissionPolicy',
  'validatingadmissionpolicies',
  'cluster',
);

export interface EndpointSlice extends KubeObject {
  readonly endpoints?: readonly { readonly conditions?: { readonly ready?: boolean } }[] | null;
}

/** The endpoints of a Service; the label below names the Service. */
export const ENDPOINT_SLICES = resource<EndpointSlice>(
  'discovery.k8s.io/v1',
  'EndpointSlice',
  'endpointslices',
  'namespaced',
);
export const LABEL_SERVICE_NAME = 'kubernetes.io/service-name';
