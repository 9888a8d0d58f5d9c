/** A Cluster with an infrastructure and a control plane that others run; its workload cluster may be the management cluster itself. */
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

export interface ClusterOptions {
  /** The spec of the AWSCluster. */
  readonly infrastructure?: object;
  /** Who provisions the infrastructure; by default it is provisioned already. */
  readonly managedBy?: string;
}

/** Makes the Cluster and all that it refers to, as ready as an operator's would be; the kubeconfig is that of the workload cluster. */
export async function makeCluster(client: KubeClient, kubeconfig: string, options: ClusterOptions = {}): Promise<void> {
  const kinds = [CLUSTERS, CONTROL_PLANES, infrastructureKind('AWSMachine'), infrastructureKind('AWSMachineTemplate')];
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
  const { infrastructure = {}, managedBy } = options;
  const endpoint = { controlPlaneEndpoint: { host: '127.0.0.1', port: 1 } };
  const annotations = managedBy === undefined ? {} : { [ANNOTATION_MANAGED_BY]: managedBy };
  await create(client, CLUSTERS, { ...endpoint, ...infrastructure }, CLUSTER, annotations);
  await create(client, CONTROL_PLANES, { version: 'v1.36.3' });
  const provisioned = { status: { ready: true, initialization: { provisioned: true } } };
  if (managedBy === undefined)
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
    CONTROL_PLANES,
    { namespace: NAMESPACE, name: CLUSTER },
    { type: 'merge', body: initialized },
    { subresource: 'status' },
  );
  const reference = (kind: Resource): object => ({ apiGroup: kind.group, kind: kind.kind, name: CLUSTER });
  await create(client, KINDS.clusters, {
    clusterNetwork: { pods: { cidrBlocks: ['10.0.0.0/16'] } },
    controlPlaneEndpoint: { host: '127.0.0.1', port: 1 },
    infrastructureRef: reference(CLUSTERS),
    controlPlaneRef: reference(CONTROL_PLANES),
  });
}

/** A MachineDeployment without machines, with a template of its own. */
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

/** For objects that are written whole. */
export { keyOf };
