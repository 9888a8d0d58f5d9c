/** `networking.k8s.io/v1`, `discovery.k8s.io/v1`, `node.k8s.io/v1`: stored only; no controller acts on them. */

import { builtIn } from './built-in.ts';
import {
  ENDPOINT_SLICE_COLUMNS,
  INGRESS_CLASS_COLUMNS,
  INGRESS_COLUMNS,
  NETWORK_POLICY_COLUMNS,
  RUNTIME_CLASS_COLUMNS,
} from './columns/policy-columns.ts';
import type { Kind } from './kind.ts';

export const NETWORKING_KINDS: readonly Kind[] = [
  builtIn('discovery.k8s.io/v1', 'EndpointSlice', 'endpointslices', 'namespaced', {
    columns: ENDPOINT_SLICE_COLUMNS,
    generation: true,
  }),
  builtIn('networking.k8s.io/v1', 'IngressClass', 'ingressclasses', 'cluster', {
    columns: INGRESS_CLASS_COLUMNS,
    generation: true,
  }),
  builtIn('networking.k8s.io/v1', 'Ingress', 'ingresses', 'namespaced', {
    shortNames: ['ing'],
    columns: INGRESS_COLUMNS,
    status: true,
    generation: true,
  }),
  builtIn('networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies', 'namespaced', {
    shortNames: ['netpol'],
    columns: NETWORK_POLICY_COLUMNS,
    generation: true,
  }),
  builtIn('node.k8s.io/v1', 'RuntimeClass', 'runtimeclasses', 'cluster', { columns: RUNTIME_CLASS_COLUMNS }),
];
