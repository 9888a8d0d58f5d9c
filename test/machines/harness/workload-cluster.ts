/** A Cluster with externally managed infrastructure and control plane; its workload cluster may be the management cluster itself. */
import { readFileSync } from 'node:fs';
import { coreKinds, kindOf } from '../../../src/apis/cluster-api/core-kinds.ts';
import type { MachineDeployment } from '../../../src/apis/cluster-api/machine-deployment.ts';
import {
  ANNOTATION_MANAGED_BY,
  CONTROL_PLANE_GROUP,
  INFRASTRUCTURE_GROUP,
  LABEL_CLUSTER_NAME,
} from '../../../src/apis/cluster-api/names.ts';
import { type KubeObject, keyOf, type Resource, resource } from '../../../src/apis/kubernetes/object.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../../src/apis/schema/custom-resource-definition.ts';
import { infrastructureKind, openDefinition } from '../../../src/cloud/cluster-api/core/open-definitions.ts';
import type { KubeClient } from '../../../src/kube/client.ts';
import { RealClock } from '../../../src/platform/real-clock.ts';
import { untilSo } from '../../kubernetes/harness/until-so.ts';

export const KINDS = coreKinds('v1beta2');
export const CLUSTER = 'fleet';
export const NAMESPACE = 'default';
export const MEMBER = 'node.cluster.x-k8s.io/karpenter-member';
const CLUSTERS = infrastructureKind('AWSCluster');
const CONTROL_PLANES = kindOf(CONTROL_PLANE_GROUP, 'v1beta1', 'AWSManagedControlPlane');
const SECRETS = resource('v1', 'Secret', 'secrets', 'namespaced');
const labels = { [LABEL_CLUSTER_NAME]: CLUSTER };

/** A control plane kind that the provider has no code for, as Cluster API allows. */
const HOSTED_CONTROL_PLANES = kindOf(CONTROL_PLANE_GROUP, 'v1beta1', 'HostedControlPlane');

export interface ClusterOptions {
  /** The spec of the AWSCluster. */
  readonly infrastructure?: object;
  /** The manager that provisions the infrastructure. */
  readonly managedBy?: string;
  /** Whether the infrastructure is already provisioned; default: yes, unless `managedBy` is set. */
  readonly isProvisioned?: boolean;
  /** Whether the real provider's kinds are installed; by default ours are, which accept any fields. */
  readonly hasProvider?: boolean;
}

/** Creates the Cluster and all objects it refers to, as ready as an operator's would be. The kubeconfig is for the workload cluster. */
export async function makeCluster(client: KubeClient, kubeconfig: string, options: ClusterOptions = {}): Promise<void> {
  const { infrastructure = {}, managedBy, isProvisioned = managedBy === undefined, hasProvider = false } = options;
  const controlPlanes = hasProvider ? HOSTED_CONTROL_PLANES : CONTROL_PLANES;
  const ofProvider = [CLUSTERS, infrastructureKind('AWSMachine'), infrastructureKind('AWSMachineTemplate')];
  const kinds = [controlPlanes, ...(hasProvider ? [] : ofProvider)];
  for (const kind of kinds) {
    const definition = openDefinition(kind);
    const contract = { 'cluster.x-k8s.io/v1beta2': kind.version };
    await client.create(CUSTOM_RESOURCE_DEFINITIONS, {
      ...definition,
      metadata: { ...definition.metadata, labels: contract },
    });
  }
  const clock = new RealClock();
  for (const kind of kinds) {
    const missing = async (): Promise<string | undefined> =>
      client.list(kind).then(
        () => undefined,
        () => `${kind.plural} are not served`,
      );
    await untilSo({ clock, withinMs: 30_000, missing });
  }
  const value = Buffer.from(readFileSync(kubeconfig)).toString('base64');
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: `${CLUSTER}-kubeconfig`, namespace: NAMESPACE, labels },
    type: 'cluster.x-k8s.io/secret',
    data: { value },
  };
  await client.create(SECRETS, secret as KubeObject);
  const endpoint = { controlPlaneEndpoint: { host: '127.0.0.1', port: 1 } };
  const annotations = managedBy === undefined ? {} : { [ANNOTATION_MANAGED_BY]: managedBy };
  await create(client, CLUSTERS, { ...endpoint, ...infrastructure }, CLUSTER, annotations);
  await create(client, controlPlanes, { version: 'v1.36.3' });
  const provisioned = { status: { ready: true, initialization: { provisioned: true } } };
  if (isProvisioned)
    await client.patch(
      CLUSTERS,
      { namespace: NAMESPACE, name: CLUSTER },
      { type: 'merge', body: provisioned },
      { subresource: 'status' },
    );
  const initialized = {
    status: {
      ready: true,
      initialized: true,
      initialization: { controlPlaneInitialized: true },
      externalManagedControlPlane: true,
      version: 'v1.36.3',
    },
  };
  await client.patch(
    controlPlanes,
    { namespace: NAMESPACE, name: CLUSTER },
    { type: 'merge', body: initialized },
    { subresource: 'status' },
  );
  const reference = (kind: Resource): object => ({ apiGroup: kind.group, kind: kind.kind, name: CLUSTER });
  await create(client, KINDS.clusters, {
    clusterNetwork: { pods: { cidrBlocks: ['10.0.0.0/16'] } },
    controlPlaneEndpoint: { host: '127.0.0.1', port: 1 },
    infrastructureRef: reference(CLUSTERS),
    controlPlaneRef: reference(controlPlanes),
  });
}

/** A MachineDeployment without machines, with its own template. */
export async function makeDeployment(client: KubeClient, name: string, zone: string, spec: object): Promise<void> {
  await create(client, infrastructureKind('AWSMachineTemplate'), { template: { spec } }, name);
  const infrastructureRef = { apiGroup: INFRASTRUCTURE_GROUP, kind: 'AWSMachineTemplate', name };
  const deployment: MachineDeployment = {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'MachineDeployment',
    metadata: { name, namespace: NAMESPACE, labels: { ...labels, [MEMBER]: '' } },
    spec: {
      clusterName: CLUSTER,
      replicas: 0,
      selector: { matchLabels: { pool: name } },
      template: {
        metadata: { labels: { pool: name } },
        spec: { clusterName: CLUSTER, failureDomain: zone, bootstrap: { dataSecretName: 'join' }, infrastructureRef },
      },
    },
  };
  await client.create(KINDS.machineDeployments, deployment);
}

async function create(
  client: KubeClient,
  kind: Resource,
  spec: object,
  name = CLUSTER,
  annotations: object = {},
): Promise<void> {
  const apiVersion = `${kind.group}/${kind.version}`;
  await client.create(kind, {
    apiVersion,
    kind: kind.kind,
    metadata: { name, namespace: NAMESPACE, labels, annotations },
    ...{ spec },
  } as KubeObject);
}

/** For objects that are written as a whole. */
export { keyOf };
