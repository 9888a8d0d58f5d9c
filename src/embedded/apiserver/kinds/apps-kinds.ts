/** `apps/v1`: the workloads that keep pods running. */
import { builtIn } from './built-in.ts';
import type { Kind } from './kind.ts';

const SCALE = {
  specReplicasPath: '.spec.replicas',
  statusReplicasPath: '.status.replicas',
  labelSelectorPath: '.spec.selector',
};
const WORKLOAD = { categories: ['all'], status: true, generation: true } as const;

export const APPS_KINDS: readonly Kind[] = [
  builtIn('apps/v1', 'ControllerRevision', 'controllerrevisions', 'namespaced', {}),
  builtIn('apps/v1', 'DaemonSet', 'daemonsets', 'namespaced', { ...WORKLOAD, shortNames: ['ds'] }),
  builtIn('apps/v1', 'Deployment', 'deployments', 'namespaced', { ...WORKLOAD, shortNames: ['deploy'], scale: SCALE }),
  builtIn('apps/v1', 'ReplicaSet', 'replicasets', 'namespaced', { ...WORKLOAD, shortNames: ['rs'], scale: SCALE }),
  builtIn('apps/v1', 'StatefulSet', 'statefulsets', 'namespaced', { ...WORKLOAD, shortNames: ['sts'], scale: SCALE }),
];
