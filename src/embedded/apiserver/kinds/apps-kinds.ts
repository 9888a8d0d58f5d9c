/** `apps/v1`: the workloads that keep pods running. */

import { builtIn } from './built-in.ts';
import {
  CONTROLLER_REVISION_COLUMNS,
  DAEMON_SET_COLUMNS,
  DEPLOYMENT_COLUMNS,
  REPLICA_SET_COLUMNS,
  STATEFUL_SET_COLUMNS,
} from './columns/workload-columns.ts';
import type { Kind } from './kind.ts';
import { daemonSetRules, deploymentRules, replicaSetRules, statefulSetRules } from './rules/workload-rules.ts';

const SCALE = {
  specReplicasPath: '.spec.replicas',
  statusReplicasPath: '.status.replicas',
  labelSelectorPath: '.spec.selector',
};
const WORKLOAD = { categories: ['all'], status: true, generation: true } as const;

export const APPS_KINDS: readonly Kind[] = [
  builtIn('apps/v1', 'ControllerRevision', 'controllerrevisions', 'namespaced', {
    columns: CONTROLLER_REVISION_COLUMNS,
  }),
  builtIn('apps/v1', 'DaemonSet', 'daemonsets', 'namespaced', {
    ...WORKLOAD,
    shortNames: ['ds'],
    columns: DAEMON_SET_COLUMNS,
    rules: daemonSetRules,
  }),
  builtIn('apps/v1', 'Deployment', 'deployments', 'namespaced', {
    ...WORKLOAD,
    shortNames: ['deploy'],
    columns: DEPLOYMENT_COLUMNS,
    rules: deploymentRules,
    scale: SCALE,
  }),
  builtIn('apps/v1', 'ReplicaSet', 'replicasets', 'namespaced', {
    ...WORKLOAD,
    shortNames: ['rs'],
    columns: REPLICA_SET_COLUMNS,
    rules: replicaSetRules,
    scale: SCALE,
  }),
  builtIn('apps/v1', 'StatefulSet', 'statefulsets', 'namespaced', {
    ...WORKLOAD,
    shortNames: ['sts'],
    columns: STATEFUL_SET_COLUMNS,
    rules: statefulSetRules,
    scale: SCALE,
  }),
];
