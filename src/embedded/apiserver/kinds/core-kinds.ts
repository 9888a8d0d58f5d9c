/** The core group, `v1`. */
import type { Event } from '../../../apis/kubernetes/event.ts';
import type { Node } from '../../../apis/kubernetes/node.ts';
import type { KubeObject } from '../../../apis/kubernetes/object.ts';
import type { Pod } from '../../../apis/kubernetes/pod.ts';
import { builtIn } from './built-in.ts';
import {
  CONFIG_MAP_COLUMNS,
  CREATED_AT,
  ENDPOINTS_COLUMNS,
  EVENT_COLUMNS,
  NAMESPACE_COLUMNS,
  QUOTA_COLUMNS,
  SECRET_COLUMNS,
  SERVICE_COLUMNS,
} from './columns/core-columns.ts';
import { NODE_COLUMNS } from './columns/node-columns.ts';
import { POD_COLUMNS } from './columns/pod-columns.ts';
import { CLAIM_COLUMNS, VOLUME_COLUMNS } from './columns/storage-columns.ts';
import { POD_TEMPLATE_COLUMNS, REPLICA_SET_COLUMNS } from './columns/workload-columns.ts';
import type { Kind, Subresource } from './kind.ts';
import { limitRangeRules } from './rules/limit-range-rules.ts';
import { namespaceRules } from './rules/namespace-rules.ts';
import { nodeRules } from './rules/node-rules.ts';
import { podRules } from './rules/pod-rules.ts';
import { claimRules, configMapRules, secretRules, serviceRules, volumeRules } from './rules/stored-rules.ts';
import { replicationControllerRules } from './rules/workload-rules.ts';

const POD_SUBRESOURCES: readonly Subresource[] = [
  { name: 'binding', group: '', version: 'v1', kind: 'Binding', verbs: ['create'] },
  { name: 'eviction', group: 'policy', version: 'v1', kind: 'Eviction', verbs: ['create'] },
  { name: 'log', group: '', version: 'v1', kind: 'Pod', verbs: ['get'] },
];

export const CORE_KINDS: readonly Kind[] = [
  builtIn('v1', 'Binding', 'bindings', 'namespaced', { stored: false }),
  builtIn('v1', 'ConfigMap', 'configmaps', 'namespaced', {
    shortNames: ['cm'],
    columns: CONFIG_MAP_COLUMNS,
    rules: configMapRules,
  }),
  builtIn('v1', 'Endpoints', 'endpoints', 'namespaced', {
    singular: 'endpoints',
    shortNames: ['ep'],
    columns: ENDPOINTS_COLUMNS,
  }),
  builtIn('v1', 'Event', 'events', 'namespaced', {
    shortNames: ['ev'],
    columns: EVENT_COLUMNS,
    selectableFields: {
      'involvedObject.kind': (event: Event) => event.involvedObject?.kind,
      'involvedObject.namespace': (event: Event) => event.involvedObject?.namespace,
      'involvedObject.name': (event: Event) => event.involvedObject?.name,
      'involvedObject.uid': (event: Event) => event.involvedObject?.uid,
      'involvedObject.apiVersion': (event: Event) => event.involvedObject?.apiVersion,
      'involvedObject.resourceVersion': (event: Event) => event.involvedObject?.resourceVersion,
      'involvedObject.fieldPath': (event: Event) =>
        (event.involvedObject as { readonly fieldPath?: string } | undefined)?.fieldPath,
      reason: (event: Event) => event.reason,
      reportingComponent: (event: Event) => event.reportingComponent,
      source: (event: Event) => event.source?.component ?? event.reportingComponent,
      type: (event: Event) => event.type,
    },
  }),
  builtIn('v1', 'LimitRange', 'limitranges', 'namespaced', {
    shortNames: ['limits'],
    columns: CREATED_AT,
    rules: limitRangeRules,
  }),
  builtIn('v1', 'Namespace', 'namespaces', 'cluster', {
    shortNames: ['ns'],
    columns: NAMESPACE_COLUMNS,
    status: true,
    subresources: [{ name: 'finalize', group: '', version: 'v1', kind: 'Namespace', verbs: ['update'] }],
    selectableFields: {
      'status.phase': (namespace: KubeObject & { readonly status?: { readonly phase?: string } }) =>
        namespace.status?.phase,
    },
    rules: namespaceRules,
  }),
  builtIn('v1', 'Node', 'nodes', 'cluster', {
    shortNames: ['no'],
    columns: NODE_COLUMNS,
    status: true,
    selectableFields: { 'spec.unschedulable': (node: Node) => String(node.spec?.unschedulable ?? false) },
    rules: nodeRules,
  }),
  builtIn('v1', 'PersistentVolumeClaim', 'persistentvolumeclaims', 'namespaced', {
    shortNames: ['pvc'],
    columns: CLAIM_COLUMNS,
    rules: claimRules,
    status: true,
  }),
  builtIn('v1', 'PersistentVolume', 'persistentvolumes', 'cluster', {
    shortNames: ['pv'],
    columns: VOLUME_COLUMNS,
    rules: volumeRules,
    status: true,
  }),
  builtIn('v1', 'Pod', 'pods', 'namespaced', {
    shortNames: ['po'],
    columns: POD_COLUMNS,
    categories: ['all'],
    status: true,
    generation: true,
    subresources: POD_SUBRESOURCES,
    selectableFields: {
      'spec.nodeName': (pod: Pod) => pod.spec.nodeName,
      'spec.restartPolicy': (pod: Pod) => pod.spec.restartPolicy,
      'spec.schedulerName': (pod: Pod) => pod.spec.schedulerName,
      'spec.serviceAccountName': (pod: Pod) => pod.spec.serviceAccountName,
      'spec.hostNetwork': (pod: Pod) => String(pod.spec.hostNetwork ?? false),
      'status.phase': (pod: Pod) => pod.status?.phase,
      'status.podIP': (pod: Pod) => pod.status?.podIP,
      'status.nominatedNodeName': (pod: Pod) => pod.status?.nominatedNodeName,
    },
    rules: podRules,
  }),
  builtIn('v1', 'PodTemplate', 'podtemplates', 'namespaced', { columns: POD_TEMPLATE_COLUMNS }),
  builtIn('v1', 'ReplicationController', 'replicationcontrollers', 'namespaced', {
    shortNames: ['rc'],
    columns: REPLICA_SET_COLUMNS,
    rules: replicationControllerRules,
    categories: ['all'],
    status: true,
    generation: true,
    scale: {
      specReplicasPath: '.spec.replicas',
      statusReplicasPath: '.status.replicas',
      labelSelectorPath: '.spec.selector',
    },
  }),
  builtIn('v1', 'ResourceQuota', 'resourcequotas', 'namespaced', {
    shortNames: ['quota'],
    columns: QUOTA_COLUMNS,
    status: true,
  }),
  builtIn('v1', 'Secret', 'secrets', 'namespaced', {
    columns: SECRET_COLUMNS,
    rules: secretRules,
    selectableFields: { type: (secret: KubeObject & { readonly type?: string }) => secret.type },
  }),
  builtIn('v1', 'ServiceAccount', 'serviceaccounts', 'namespaced', {
    shortNames: ['sa'],
    subresources: [
      { name: 'token', group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest', verbs: ['create'] },
    ],
  }),
  builtIn('v1', 'Service', 'services', 'namespaced', {
    shortNames: ['svc'],
    columns: SERVICE_COLUMNS,
    categories: ['all'],
    status: true,
    rules: serviceRules,
  }),
];
