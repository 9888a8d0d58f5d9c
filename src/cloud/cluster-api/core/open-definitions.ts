/** Definitions of kinds of Cluster API whose objects may have any fields: for the embedded cluster, where the published ones are not there. */
import { type CoreKinds, kindOf } from '../../../apis/cluster-api/core-kinds.ts';
import { CLUSTER_API_GROUP, INFRASTRUCTURE_GROUP } from '../../../apis/cluster-api/names.ts';
import type { Resource } from '../../../apis/kubernetes/object.ts';
import type { CustomResourceDefinition } from '../../../apis/schema/custom-resource-definition.ts';

const ANYTHING = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } as const;

const column = (name: string, jsonPath: string, type = 'string'): object => ({ name, jsonPath, type });
const AGE = column('Age', '.metadata.creationTimestamp', 'date');

/** What `kubectl get` shows, near to what the published definitions show. */
const COLUMNS: Readonly<Record<string, readonly never[]>> = {
  MachineDeployment: [
    column('Cluster', '.spec.clusterName'),
    column('Desired', '.spec.replicas', 'integer'),
    column('Current', '.status.replicas', 'integer'),
    AGE,
  ],
  MachineSet: [column('Cluster', '.spec.clusterName'), column('Desired', '.spec.replicas', 'integer'), AGE],
  Machine: [
    column('Cluster', '.spec.clusterName'),
    column('Node', '.status.nodeRef.name'),
    column('ProviderID', '.spec.providerID'),
    AGE,
  ],
  CloudMachine: [
    column('Ready', '.status.ready', 'boolean'),
    column('Interruptible', '.status.interruptible', 'boolean'),
    column('ProviderID', '.spec.providerID'),
    column('Failure', '.status.failureMessage'),
    AGE,
  ],
} as never;

/** The version in which these definitions serve kinds of the providers, as the real ones do. */
export function infrastructureVersion(kind: string): string {
  return kind.startsWith('AWS') ? 'v1beta2' : 'v1beta1';
}

/** A kind of a provider. */
export function infrastructureKind(kind: string): Resource {
  return kindOf(INFRASTRUCTURE_GROUP, infrastructureVersion(kind), kind);
}

/** The core kinds, and machines, templates and clusters of the three clouds. */
export function openDefinitions(kinds: CoreKinds): readonly CustomResourceDefinition[] {
  const { version: _, ...core } = kinds;
  const clouds = ['AWS', 'GCP', 'Azure'].flatMap((cloud) =>
    ['Machine', 'MachineTemplate', 'Cluster'].map((kind) => `${cloud}${kind}`),
  );
  return [...Object.values(core), ...clouds.map(infrastructureKind)].map((kind) => openDefinition(kind));
}

/** A definition without rules, with a status of its own. */
export function openDefinition(kind: Resource): CustomResourceDefinition {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${kind.plural}.${kind.group}`,
      // The contract that the kind keeps.
      labels: { [`${CLUSTER_API_GROUP}/v1beta2`]: kind.version },
    },
    spec: {
      group: kind.group,
      names: { kind: kind.kind, listKind: `${kind.kind}List`, plural: kind.plural, singular: kind.kind.toLowerCase() },
      scope: kind.namespaced ? 'Namespaced' : 'Cluster',
      versions: [
        {
          name: kind.version,
          served: true,
          storage: true,
          additionalPrinterColumns: COLUMNS[kind.kind.replace(/^(AWS|GCP|Azure)/, 'Cloud')] ?? [],
          subresources: {
            status: {},
            ...(/^Machine(Set|Deployment)$/.test(kind.kind) && {
              scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
            }),
          },
          schema: { openAPIV3Schema: { type: 'object', properties: { spec: ANYTHING, status: ANYTHING } } as never },
        },
      ],
    },
  };
}
