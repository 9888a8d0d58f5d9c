/** `networking.k8s.io/v1`, `discovery.k8s.io/v1`, `node.k8s.io/v1`: kept, and acted upon by nobody. */
import { builtIn } from './built-in.ts';
import type { Kind } from './kind.ts';

export const NETWORKING_KINDS: readonly Kind[] = [
  builtIn('discovery.k8s.io/v1', 'EndpointSlice', 'endpointslices', 'namespaced', { generation: true }),
  builtIn('networking.k8s.io/v1', 'IngressClass', 'ingressclasses', 'cluster', { generation: true }),
  builtIn('networking.k8s.io/v1', 'Ingress', 'ingresses', 'namespaced', {
    shortNames: ['ing'],
    status: true,
    generation: true,
  }),
  builtIn('networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies', 'namespaced', {
    shortNames: ['netpol'],
    generation: true,
  }),
  builtIn('node.k8s.io/v1', 'RuntimeClass', 'runtimeclasses', 'cluster', {}),
];
