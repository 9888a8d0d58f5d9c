/** The core kinds of Cluster API by the version in which the management cluster serves them. */
import { type KubeObject, type Resource, resource } from '../kubernetes/object.ts';
import type { CoreMachine } from './machine.ts';
import type { MachineDeployment, MachineSet } from './machine-deployment.ts';
import type { MachineHealthCheck } from './machine-health-check.ts';
import { CLUSTER_API_GROUP } from './names.ts';
import type { Reference } from './reference.ts';

/** Newest first: v1beta1 is deprecated, and still all that older management clusters serve. */
export const CORE_VERSIONS = ['v1beta2', 'v1beta1'] as const;
export type CoreVersion = (typeof CORE_VERSIONS)[number];

export interface ClusterApiCluster extends KubeObject {
  readonly spec?: {
    readonly paused?: boolean;
    readonly controlPlaneRef?: Reference;
    readonly infrastructureRef?: Reference;
  };
  readonly status?: {
    /** v1beta2. */
    readonly initialization?: { readonly infrastructureProvisioned?: boolean };
    /** v1beta1. */
    readonly infrastructureReady?: boolean;
  };
}

/** The kinds in one version. */
export interface CoreKinds {
  readonly version: CoreVersion;
  readonly clusters: Resource<ClusterApiCluster>;
  readonly machines: Resource<CoreMachine>;
  readonly machineSets: Resource<MachineSet>;
  readonly machineDeployments: Resource<MachineDeployment>;
  readonly machineHealthChecks: Resource<MachineHealthCheck>;
}

/** The core kinds as that version names them. */
export function coreKinds(version: CoreVersion): CoreKinds {
  const kind = <T extends KubeObject>(name: string, plural: string): Resource<T> =>
    resource<T>(`${CLUSTER_API_GROUP}/${version}`, name, plural, 'namespaced');
  return {
    version,
    clusters: kind('Cluster', 'clusters'),
    machines: kind('Machine', 'machines'),
    machineSets: kind('MachineSet', 'machinesets'),
    machineDeployments: kind('MachineDeployment', 'machinedeployments'),
    machineHealthChecks: kind('MachineHealthCheck', 'machinehealthchecks'),
  };
}

/** A kind that a reference names. Cluster API asks of every kind it refers to that its plural is this regular. */
export function kindOf<T extends KubeObject>(group: string, version: string, name: string): Resource<T> {
  return resource<T>(`${group}/${version}`, name, pluralOf(name), 'namespaced');
}

/** `awsmachinetemplates` of AWSMachineTemplate. */
export function pluralOf(kind: string): string {
  const name = kind.toLowerCase();
  if (/(s|x|z|ch|sh)$/.test(name)) return `${name}es`;
  return /[^aeiou]y$/.test(name) ? `${name.slice(0, -1)}ies` : `${name}s`;
}
