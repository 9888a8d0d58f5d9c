/**
 * The rights that the controller needs with its options. `spindrift doctor` asks the API server for each of them; a test
 * compares them with the roles of the chart, in both directions.
 */
import type { ResourceAttributes } from '../apis/kubernetes/resource-access.ts';

/** A rule as a role has it. */
export interface NeededRule {
  readonly group: string;
  /** With the subresource after a slash: `pods/eviction`. */
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  /** Only in this namespace; in the whole cluster when absent. */
  readonly namespace?: string;
  /** Only objects of these names. */
  readonly names?: readonly string[];
}

/** The options that decide which rights are needed. */
export interface RightsOptions {
  readonly clouds: readonly string[];
  /** The Lease of the leader; absent without leader election. */
  readonly lease?: { readonly namespace: string; readonly name: string };
  readonly installsDefinitions: boolean;
  /** The ConfigMap with names of GPUs, where there is one. */
  readonly gpuNames?: { readonly namespace: string; readonly name: string };
  /** Clouds whose infrastructure machines of Cluster API Spindrift reconciles itself. */
  readonly ownMachines: readonly string[];
  /** The controller writes pod-deletion-cost on pods. */
  readonly writesDeletionCost: boolean;
  /** The controller keeps replicas of services ready. */
  readonly keepsReplicas: boolean;
  /** Readers of metrics must send a token, which the API server reviews. */
  readonly checksTokens: boolean;
  /** This cluster is its own management cluster of Cluster API. */
  readonly managesItself: boolean;
}

const READ = ['list', 'watch'];

const ALWAYS: readonly NeededRule[] = [
  {
    group: '',
    resources: ['pods', 'nodes', 'namespaces', 'limitranges', 'persistentvolumes', 'persistentvolumeclaims'],
    verbs: READ,
  },
  { group: 'apps', resources: ['daemonsets'], verbs: READ },
  { group: 'policy', resources: ['poddisruptionbudgets'], verbs: READ },
  { group: 'storage.k8s.io', resources: ['storageclasses', 'volumeattachments'], verbs: READ },
  { group: '', resources: ['pods/binding', 'pods/eviction'], verbs: ['create'] },
  { group: '', resources: ['pods'], verbs: ['get', 'delete'] },
  { group: '', resources: ['nodes'], verbs: ['patch', 'delete'] },
  { group: '', resources: ['events'], verbs: ['create', 'patch'] },
  { group: 'karpenter.sh', resources: ['nodeclaims'], verbs: ['get', ...READ, 'create', 'patch', 'delete'] },
  { group: 'karpenter.sh', resources: ['nodepools'], verbs: [...READ, 'patch'] },
  { group: 'karpenter.sh', resources: ['nodeclaims/status', 'nodepools/status'], verbs: ['patch'] },
  { group: 'karpenter.sh', resources: ['nodeclaims/finalizers', 'nodepools/finalizers'], verbs: ['update'] },
  { group: 'karpenter.sh', resources: ['nodeoverlays'], verbs: READ },
  { group: 'karpenter.sh', resources: ['nodeoverlays/status'], verbs: ['patch'] },
  { group: 'autoscaling.x-k8s.io', resources: ['capacitybuffers'], verbs: [...READ, 'patch'] },
  { group: 'autoscaling.x-k8s.io', resources: ['capacitybuffers/status'], verbs: ['patch'] },
  { group: '', resources: ['podtemplates'], verbs: ['get'] },
  { group: 'apps', resources: ['deployments', 'statefulsets', 'replicasets'], verbs: ['get'] },
  { group: 'spindrift.dev', resources: ['spotpolicies'], verbs: READ },
  { group: 'spindrift.dev', resources: ['spotpolicies/status'], verbs: ['patch'] },
  { group: 'llmaz.io', resources: ['openmodels'], verbs: READ },
];

/** Node classes are read, and their status is written; `more` has patch where a hash is written on them. */
function nodeClass(group: string, plural: string, more: readonly string[] = []): NeededRule[] {
  return [
    { group, resources: [plural], verbs: [...READ, ...more] },
    { group, resources: [`${plural}/status`], verbs: ['patch'] },
  ];
}

const DNS: NeededRule = { group: '', resources: ['services'], verbs: ['get'], namespace: 'kube-system' };

const OF_CLOUDS: Readonly<Record<string, readonly NeededRule[]>> = {
  simulated: [
    ...nodeClass('spindrift.dev', 'simulatednodeclasses'),
    { group: '', resources: ['nodes'], verbs: ['get', 'create'] },
  ],
  aws: [...nodeClass('karpenter.k8s.aws', 'ec2nodeclasses', ['patch']), DNS],
  ibm: [
    ...nodeClass('karpenter-ibm.sh', 'ibmnodeclasses', ['patch']),
    { group: '', resources: ['namespaces'], verbs: ['get'], names: ['kube-system'] },
    DNS,
    { ...DNS, resources: ['configmaps'], names: ['kube-root-ca.crt'] },
    { ...DNS, resources: ['secrets'], verbs: ['get', 'list', 'create', 'delete'] },
    { ...DNS, resources: ['configmaps'], namespace: 'kube-public', names: ['cluster-info'] },
  ],
  'cluster-api': nodeClass('karpenter.cluster.x-k8s.io', 'clusterapinodeclasses'),
  gcp: nodeClass('karpenter.k8s.gcp', 'gcenodeclasses'),
  azure: nodeClass('karpenter.azure.com', 'azurenodeclasses'),
};

const DEFINITIONS = { group: 'apiextensions.k8s.io', resources: ['customresourcedefinitions'] };

/** Machines of Cluster API in this cluster. */
const MACHINES: readonly NeededRule[] = [
  { group: 'cluster.x-k8s.io', resources: ['machinedeployments'], verbs: ['get', ...READ, 'patch'] },
  { group: 'cluster.x-k8s.io', resources: ['machines'], verbs: [...READ, 'patch', 'delete'] },
  { group: 'cluster.x-k8s.io', resources: ['machines/status'], verbs: ['patch'] },
  { group: 'infrastructure.cluster.x-k8s.io', resources: ['*'], verbs: ['get', 'list'] },
  { ...DEFINITIONS, verbs: ['get'] },
];

/** For Spindrift as the infrastructure provider, which first looks whether another one runs. */
const PROVIDER: readonly NeededRule[] = [
  { group: 'cluster.x-k8s.io', resources: ['clusters'], verbs: READ },
  { group: '', resources: ['secrets'], verbs: ['get'] },
  { group: 'apps', resources: ['deployments'], verbs: ['list'] },
  { group: 'coordination.k8s.io', resources: ['leases'], verbs: ['list'] },
];

/** The infrastructure kinds of one cloud. */
function providedRules(cloud: string): readonly NeededRule[] {
  const [machines, templates, clusters] = [`${cloud}machines`, `${cloud}machinetemplates`, `${cloud}clusters`] as const;
  const group = 'infrastructure.cluster.x-k8s.io';
  return [
    { group, resources: [machines], verbs: ['watch', 'patch'] },
    { group, resources: [templates, clusters], verbs: ['watch'] },
    { group, resources: [machines, templates, clusters].map((plural) => `${plural}/status`), verbs: ['patch'] },
  ];
}

/** Workloads whose replicas are kept ready. */
const SERVICES: readonly NeededRule[] = [
  { group: 'apps', resources: ['deployments'], verbs: [...READ, 'patch'] },
  { group: 'leaderworkerset.x-k8s.io', resources: ['leaderworkersets'], verbs: [...READ, 'patch'] },
  { group: 'inference.llmaz.io', resources: ['playgrounds'], verbs: [...READ, 'patch'] },
];

/** Reviews the tokens and rights of readers of metrics. */
const TOKENS: readonly NeededRule[] = [
  { group: 'authentication.k8s.io', resources: ['tokenreviews'], verbs: ['create'] },
  { group: 'authorization.k8s.io', resources: ['subjectaccessreviews'], verbs: ['create'] },
];

/** The rules that the roles must have. */
export function neededRules(options: RightsOptions): NeededRule[] {
  const { clouds, lease, installsDefinitions, gpuNames, managesItself, ownMachines } = options;
  const { checksTokens, keepsReplicas, writesDeletionCost } = options;
  const hasMachines = clouds.includes('cluster-api') && managesItself;
  const leases = { group: 'coordination.k8s.io', resources: ['leases'] };
  return [
    ...ALWAYS,
    ...clouds.flatMap((cloud) => OF_CLOUDS[cloud] ?? []),
    ...(hasMachines ? MACHINES : []),
    ...(hasMachines && ownMachines.length > 0 ? [...PROVIDER, ...ownMachines.flatMap(providedRules)] : []),
    ...(installsDefinitions ? [{ ...DEFINITIONS, verbs: ['watch', 'create', 'patch'] }] : []),
    ...(checksTokens ? TOKENS : []),
    ...(keepsReplicas ? SERVICES : []),
    ...(keepsReplicas || writesDeletionCost ? [{ group: '', resources: ['pods'], verbs: ['patch'] }] : []),
    ...(lease === undefined
      ? []
      : [
          { ...leases, verbs: ['create'], namespace: lease.namespace },
          { ...leases, verbs: ['get', 'update'], namespace: lease.namespace, names: [lease.name] },
        ]),
    ...(gpuNames === undefined
      ? []
      : [{ group: '', resources: ['configmaps'], verbs: READ, namespace: gpuNames.namespace, names: [gpuNames.name] }]),
  ];
}

/** Each right once, as an access review asks for it. */
export function neededRights(options: RightsOptions): ResourceAttributes[] {
  const rights = neededRules(options).flatMap(({ group, resources, verbs, namespace, names = [undefined] }) =>
    resources.flatMap((path) =>
      verbs.flatMap((verb) =>
        names.map((name): ResourceAttributes => {
          const [resource = '', subresource] = path.split('/');
          return {
            group,
            resource,
            verb,
            ...(subresource === undefined ? {} : { subresource }),
            ...(namespace === undefined ? {} : { namespace }),
            ...(name === undefined ? {} : { name }),
          };
        }),
      ),
    ),
  );
  return [...new Map(rights.map((right) => [JSON.stringify(Object.entries(right).sort()), right])).values()];
}
