/**
 * As much of Cluster API's core as it takes to try things out where the real one is not: MachineDeployments, MachineSets
 * and Machines of the v1beta2 contract, one machine more at a time in rollouts, no preflight checks, no drain of its own. It is for
 * the embedded cluster and for tests, and never runs beside the real core.
 */
import { createHash } from 'node:crypto';
import { type ClusterApiCluster, type CoreKinds, kindOf } from '../../../apis/cluster-api/core-kinds.ts';
import type { CoreMachine } from '../../../apis/cluster-api/machine.ts';
import type { MachineDeployment, MachineSet } from '../../../apis/cluster-api/machine-deployment.ts';
import { LABEL_CLUSTER_NAME, LABEL_DEPLOYMENT_NAME, LABEL_SET_NAME } from '../../../apis/cluster-api/names.ts';
import { type Referred, referred } from '../../../apis/cluster-api/reference.ts';
import { NODES, type Node } from '../../../apis/kubernetes/node.ts';
import {
  apiVersionOf,
  type KubeObject,
  keyOf,
  keyText,
  type OwnerReference,
  type Resource,
} from '../../../apis/kubernetes/object.ts';
import type { KubeClient } from '../../../kube/client.ts';
import { Controller, type ReconcileResult } from '../../../kube/controller.ts';
import { enqueueOn } from '../../../kube/enqueue.ts';
import { Informer } from '../../../kube/informer.ts';
import type { Clock } from '../../../platform/clock.ts';
import { hasCode } from '../../../platform/errors.ts';
import type { Random } from '../../../platform/random.ts';
import { isPaused } from '../census.ts';
import { decideMachineDeployment } from './decide-machine-deployment.ts';
import { decideMachineSet } from './decide-machine-set.ts';

export interface MinimalCoreOptions {
  readonly client: KubeClient;
  /** Of the cluster that machines become Nodes of; the same client where that is one cluster. */
  readonly workload?: KubeClient;
  readonly kinds: CoreKinds;
  readonly clock: Clock;
  readonly random: Random;
  /** In which version the kinds of the infrastructure are served. */
  readonly infrastructureVersion: (kind: string) => string;
}

/** What an infrastructure machine says of itself. */
export interface InfrastructureMachine extends KubeObject {
  readonly spec?: Readonly<Record<string, unknown>> & { readonly providerID?: string };
  readonly status?: Readonly<Record<string, unknown>>;
}

interface InfrastructureTemplate extends KubeObject {
  readonly spec?: {
    readonly template?: {
      readonly metadata?: { readonly labels?: Readonly<Record<string, string>> };
      readonly spec?: object;
    };
  };
}

const FINALIZER = 'machine.cluster.x-k8s.io';
const LOOK_AGAIN_MS = 5_000;

export class MinimalCore {
  readonly #options: MinimalCoreOptions;
  readonly #random: Random;
  readonly #deployments: Informer<MachineDeployment>;
  readonly #sets: Informer<MachineSet>;
  readonly #machines: Informer<CoreMachine>;
  readonly #clusters: Informer<ClusterApiCluster>;
  readonly #nodes: Informer<Node>;

  constructor(options: MinimalCoreOptions) {
    const { client, clock, kinds, workload = client } = options;
    this.#options = options;
    this.#random = options.random.split('minimal-core');
    const random = this.#random;
    this.#deployments = new Informer({ client, clock, random, kind: kinds.machineDeployments });
    this.#sets = new Informer({
      ...{ client, clock, random, kind: kinds.machineSets },
      indexers: { deployment: (set) => [`${set.metadata.namespace}/${set.metadata.labels?.[LABEL_DEPLOYMENT_NAME]}`] },
    });
    this.#machines = new Informer({
      ...{ client, clock, random, kind: kinds.machines },
      indexers: { set: (machine) => [`${machine.metadata.namespace}/${machine.metadata.labels?.[LABEL_SET_NAME]}`] },
    });
    this.#clusters = new Informer({ client, clock, random, kind: kinds.clusters });
    this.#nodes = new Informer({
      ...{ client: workload, clock, random, kind: NODES },
      indexers: { providerID: (node) => (node.spec?.providerID === undefined ? [] : [node.spec.providerID]) },
    });
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const controller = (
      name: string,
      reconcile: (key: string, signal: AbortSignal) => Promise<ReconcileResult | undefined>,
    ): Controller =>
      new Controller({
        name: `cluster-api.minimal-core.${name}`,
        clock,
        concurrency: 4,
        reconcile: (key, context) => reconcile(key, context.signal),
      });
    const deployments = controller('deployments', (key, stop) => this.#deployment(key, stop));
    const sets = controller('sets', (key, stop) => this.#set(key, stop));
    const machines = controller('machines', (key, stop) => this.#machine(key, stop));
    const clusters = controller('clusters', (key, stop) => this.#cluster(key, stop));
    const namespaced = (label: string) => (object: KubeObject) =>
      object.metadata.labels?.[label] === undefined
        ? []
        : [`${object.metadata.namespace}/${object.metadata.labels[label]}`];
    const stops = [
      enqueueOn(this.#deployments, deployments.queue),
      enqueueOn(this.#sets, deployments.queue, namespaced(LABEL_DEPLOYMENT_NAME)),
      enqueueOn(this.#machines, deployments.queue, namespaced(LABEL_DEPLOYMENT_NAME)),
      enqueueOn(this.#sets, sets.queue),
      enqueueOn(this.#machines, sets.queue, namespaced(LABEL_SET_NAME)),
      enqueueOn(this.#machines, machines.queue),
      enqueueOn(this.#clusters, clusters.queue),
    ];
    const caches = [this.#deployments, this.#sets, this.#machines, this.#nodes, this.#clusters];
    const parts = [...caches, deployments, sets, machines, clusters];
    try {
      await Promise.all(parts.map((part) => part.run(signal)));
    } finally {
      for (const stop of stops) stop();
    }
  }

  /** Says of a Cluster that its infrastructure is there, once the infrastructure's object does. */
  async #cluster(key: string, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const { client, kinds } = this.#options;
    const cluster = this.#clusters.get(key);
    const reference = referred(cluster?.spec?.infrastructureRef);
    if (cluster === undefined || reference === undefined) return undefined;
    if (cluster.status?.initialization?.infrastructureProvisioned === true) return undefined;
    const kind = kindOf<InfrastructureMachine>(
      reference.group,
      this.#options.infrastructureVersion(reference.kind),
      reference.kind,
    );
    const place = { namespace: cluster.metadata.namespace ?? '', name: reference.name };
    const { status } = (await orUndefined(client.get(kind, place, { signal }))) ?? {};
    if (status?.ready !== true) return { requeueAfterMs: LOOK_AGAIN_MS };
    const body = { status: { initialization: { infrastructureProvisioned: true }, phase: 'Provisioned' } };
    await client.patch(kinds.clusters, keyOf(cluster), { type: 'merge', body }, { signal, subresource: 'status' });
    return undefined;
  }

  async #deployment(key: string, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const { client, kinds } = this.#options;
    const deployment = this.#deployments.get(key);
    if (deployment?.metadata.deletionTimestamp !== undefined || deployment === undefined || isPaused(deployment))
      return undefined;
    const all = this.#sets
      .byIndex('deployment', key)
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    const hash = hashOf(deployment);
    const present = all.find(({ metadata }) => metadata.name === `${deployment.metadata.name}-${hash}`);
    if (present === undefined) {
      await ignoring(
        'KUBE_ALREADY_EXISTS',
        client.create(kinds.machineSets, setOf(deployment, hash, kinds), { signal }),
      );
      return { requeueAfterMs: LOOK_AGAIN_MS };
    }
    const former = all.filter((set) => set !== present);
    const available = (set: MachineSet): number => this.#machinesOf(set).filter(hasNode).length;
    for (const [name, replicas] of decideMachineDeployment(deployment, present, former, available)) {
      const set = all.find(({ metadata }) => metadata.name === name);
      if (set === undefined || set.spec?.replicas === replicas) continue;
      const body = { metadata: { resourceVersion: set.metadata.resourceVersion }, spec: { replicas } };
      await client.patch(kinds.machineSets, keyOf(set), { type: 'merge', body }, { signal });
    }
    for (const set of former) {
      if (set.spec?.replicas !== 0 || (await this.#read(set, signal)).length > 0) continue;
      await ignoring('KUBE_NOT_FOUND', client.delete(kinds.machineSets, keyOf(set), { signal }));
    }
    const replicas = all.reduce((sum, set) => sum + this.#machinesOf(set).length, 0);
    const { generation: observedGeneration } = deployment.metadata;
    if (deployment.status?.replicas !== replicas || deployment.status?.observedGeneration !== observedGeneration) {
      const body = { status: { replicas, observedGeneration } };
      await client.patch(
        kinds.machineDeployments,
        keyOf(deployment),
        { type: 'merge', body },
        { signal, subresource: 'status' },
      );
    }
    return undefined;
  }

  async #set(key: string, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const { client, kinds } = this.#options;
    // Read anew: a set that creates by an old cache would create too many.
    const set = await orUndefined(client.get(kinds.machineSets, keyParts(key), { signal }));
    if (set === undefined) return undefined;
    const plan = decideMachineSet(set, await this.#read(set, signal));
    for (const machine of plan.delete)
      await ignoring('KUBE_NOT_FOUND', client.delete(kinds.machines, keyOf(machine), { signal }));
    for (let made = 0; made < plan.create; made++) await this.#makeMachine(set, signal);
    return undefined;
  }

  async #makeMachine(set: MachineSet, signal: AbortSignal): Promise<void> {
    const { client, kinds } = this.#options;
    const { name: setName = '', namespace = '' } = set.metadata;
    const { metadata, spec } = set.spec?.template ?? {};
    const reference = referred(spec?.infrastructureRef);
    if (reference === undefined) return;
    const name = `${setName}-${this.#random.suffix(5)}`;
    const labels = {
      ...metadata?.labels,
      [LABEL_SET_NAME]: setName,
      [LABEL_DEPLOYMENT_NAME]: set.metadata.labels?.[LABEL_DEPLOYMENT_NAME] ?? '',
      [LABEL_CLUSTER_NAME]: spec?.clusterName ?? '',
    };
    const kind = this.#infrastructure(reference, '');
    const template = await client.get(
      this.#infrastructure<InfrastructureTemplate>(reference),
      { namespace, name: reference.name },
      { signal },
    );
    const machine = await client.create(
      kinds.machines,
      {
        apiVersion: apiVersionOf(kinds.machines),
        kind: 'Machine',
        metadata: {
          name,
          namespace,
          labels,
          annotations: metadata?.annotations ?? {},
          finalizers: [FINALIZER],
          ownerReferences: [ownerOf(set, kinds.machineSets)],
        },
        spec: { ...spec, infrastructureRef: { apiGroup: reference.group, kind: kind.kind, name } },
      },
      { signal },
    );
    await client.create(
      kind,
      {
        apiVersion: apiVersionOf(kind),
        kind: kind.kind,
        metadata: { name, namespace, labels, ownerReferences: [ownerOf(machine, kinds.machines)] },
        ...{ spec: template.spec?.template?.spec ?? {} },
      } as KubeObject,
      { signal },
    );
  }

  async #machine(key: string, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const { client, kinds } = this.#options;
    const machine = this.#machines.get(key);
    const reference = referred(machine?.spec?.infrastructureRef);
    if (machine === undefined || reference === undefined) return undefined;
    const kind = kindOf<InfrastructureMachine>(
      reference.group,
      this.#options.infrastructureVersion(reference.kind),
      reference.kind,
    );
    const place = { namespace: machine.metadata.namespace ?? '', name: reference.name };
    const infrastructure = await orUndefined(client.get(kind, place, { signal }));
    if (machine.metadata.deletionTimestamp !== undefined) return this.#end(machine, kind, infrastructure, signal);
    const providerID = infrastructure?.spec?.providerID;
    if (providerID !== undefined && machine.spec?.providerID === undefined) {
      await client.patch(kinds.machines, keyOf(machine), { type: 'merge', body: { spec: { providerID } } }, { signal });
      return { requeueAfterMs: LOOK_AGAIN_MS };
    }
    const [node] = providerID === undefined ? [] : this.#nodes.byIndex('providerID', providerID);
    if (node !== undefined && machine.status?.nodeRef?.name === undefined) {
      const body = { status: { nodeRef: { name: node.metadata.name }, phase: 'Running' } };
      await client.patch(kinds.machines, keyOf(machine), { type: 'merge', body }, { signal, subresource: 'status' });
    }
    return node === undefined ? { requeueAfterMs: LOOK_AGAIN_MS } : undefined;
  }

  /** The infrastructure goes first, then the Node, then the machine. */
  async #end(
    machine: CoreMachine,
    kind: Resource<InfrastructureMachine>,
    infrastructure: InfrastructureMachine | undefined,
    signal: AbortSignal,
  ): Promise<ReconcileResult | undefined> {
    const { client, kinds, workload = client } = this.#options;
    if (infrastructure !== undefined) {
      if (infrastructure.metadata.deletionTimestamp === undefined)
        await ignoring('KUBE_NOT_FOUND', client.delete(kind, keyOf(infrastructure), { signal }));
      return { requeueAfterMs: 1000 };
    }
    const node = machine.status?.nodeRef?.name;
    if (node !== undefined) await ignoring('KUBE_NOT_FOUND', workload.delete(NODES, { name: node }, { signal }));
    const finalizers = (machine.metadata.finalizers ?? []).filter((finalizer) => finalizer !== FINALIZER);
    const body = { metadata: { resourceVersion: machine.metadata.resourceVersion, finalizers } };
    await ignoring('KUBE_NOT_FOUND', client.patch(kinds.machines, keyOf(machine), { type: 'merge', body }, { signal }));
    return undefined;
  }

  /** Its machines as they are now, where an old cache would do harm. */
  async #read({ metadata }: MachineSet, signal: AbortSignal): Promise<readonly CoreMachine[]> {
    const { client, kinds } = this.#options;
    const labelSelector = `${LABEL_SET_NAME}=${metadata.name}`;
    return (await client.list(kinds.machines, { namespace: metadata.namespace ?? '', labelSelector }, { signal }))
      .items;
  }

  #machinesOf(set: MachineSet): readonly CoreMachine[] {
    return this.#machines.byIndex('set', keyText(keyOf(set)));
  }

  #infrastructure<T extends KubeObject = KubeObject>({ group, kind }: Referred, suffix = 'Template'): Resource<T> {
    const name = suffix === '' ? kind.replace(/Template$/, '') : kind;
    return kindOf<T>(group, this.#options.infrastructureVersion(name), name);
  }
}

function setOf(deployment: MachineDeployment, hash: string, kinds: CoreKinds): MachineSet {
  const { name = '', namespace = '' } = deployment.metadata;
  return {
    apiVersion: apiVersionOf(kinds.machineSets),
    kind: 'MachineSet',
    metadata: {
      name: `${name}-${hash}`,
      namespace,
      labels: { ...deployment.metadata.labels, [LABEL_DEPLOYMENT_NAME]: name },
      ownerReferences: [ownerOf(deployment, kinds.machineDeployments)],
    },
    spec: {
      clusterName: deployment.spec?.clusterName ?? '',
      replicas: 0,
      selector: { matchLabels: { [LABEL_DEPLOYMENT_NAME]: name, [LABEL_SET_NAME]: `${name}-${hash}` } },
      ...(deployment.spec?.template && { template: deployment.spec.template }),
    },
  };
}

function hashOf({ spec }: MachineDeployment): string {
  return createHash('sha256')
    .update(JSON.stringify(spec?.template ?? {}))
    .digest('hex')
    .slice(0, 5);
}

function ownerOf({ metadata }: KubeObject, kind: Resource): OwnerReference {
  return {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    controller: true,
    blockOwnerDeletion: true,
  };
}

function hasNode({ status, metadata }: CoreMachine): boolean {
  return status?.nodeRef?.name !== undefined && metadata.deletionTimestamp === undefined;
}

function keyParts(key: string): { namespace: string; name: string } {
  const slash = key.indexOf('/');
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

async function orUndefined<T>(work: Promise<T>): Promise<T | undefined> {
  return work.catch((error) => {
    if (hasCode(error, 'KUBE_NOT_FOUND')) return undefined;
    throw error;
  });
}

async function ignoring(code: 'KUBE_NOT_FOUND' | 'KUBE_ALREADY_EXISTS', work: Promise<unknown>): Promise<void> {
  await work.catch((error) => {
    if (!hasCode(error, code)) throw error;
  });
}
