/** `resource.k8s.io/v1` (dynamic resource allocation): stored for clients that watch them; no controller allocates devices. */
import { builtIn } from './built-in.ts';
import type { Kind } from './kind.ts';

export const DEVICE_KINDS: readonly Kind[] = [
  builtIn('resource.k8s.io/v1', 'DeviceClass', 'deviceclasses', 'cluster', { generation: true }),
  builtIn('resource.k8s.io/v1', 'ResourceClaim', 'resourceclaims', 'namespaced', { status: true, generation: true }),
  builtIn('resource.k8s.io/v1', 'ResourceClaimTemplate', 'resourceclaimtemplates', 'namespaced', {}),
  builtIn('resource.k8s.io/v1', 'ResourceSlice', 'resourceslices', 'cluster', { generation: true }),
];
