/**
 * Reconciles the infrastructure machines of one kind where their provider is not there: it launches one instance for each, says how that
 * is, and deletes it. It makes no instance a second time, and has a lasting refusal fail the machine instead of trying again.
 */
import type { ClusterApiCluster } from '../../../apis/cluster-api/core-kinds.ts';
import { ANNOTATION_PAUSED, LABEL_CLUSTER_NAME, LABEL_CONTROL_PLANE } from '../../../apis/cluster-api/names.ts';
import { referred } from '../../../apis/cluster-api/reference.ts';
import { SECRETS } from '../../../apis/kubernetes/core.ts';
import { keyOf, type Resource } from '../../../apis/kubernetes/object.ts';
import type { KubeClient } from '../../../kube/client.ts';
import { Controller, type ReconcileResult } from '../../../kube/controller.ts';
import { enqueueOn } from '../../../kube/enqueue.ts';
import type { EventRecorder } from '../../../kube/event-recorder.ts';
import { Informer } from '../../../kube/informer.ts';
import { type Clock, parseTimestamp, toTimestamp } from '../../../platform/clock.ts';
import { asError, hasCode, SpindriftError } from '../../../platform/errors.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { Random } from '../../../platform/random.ts';
import type { CloudController } from '../../cloud.ts';
import { machineSettings } from '../infrastructure/machine-settings.ts';
import type { InfrastructureObject, InfrastructureObjects } from '../infrastructure-objects.ts';
import type { ManagementCluster } from '../management-cluster.ts';
import { ANNOTATION_LAUNCHED_AT, FINALIZER_INSTANCE } from '../own-names.ts';
import type { ControllerWatch } from './controller-watch.ts';
import { decideMachineStep, type MachineScene } from './decide-machine-step.ts';
import { foreignOwner } from './foreign-owner.ts';
import type { InstanceCloud, InstanceOrder, SeenInstance } from './instance-cloud.ts';
import { reportWithInstance, reportWithoutInstance } from './machine-report.ts';
import { MachineReports } from './machine-reports.ts';
import { MachineScenes, placeOf } from './machine-scenes.ts';

export interface InfrastructureMachineControllerOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly recorder: EventRecorder;
  readonly management: ManagementCluster;
  readonly clusters: Informer<ClusterApiCluster>;
  readonly infrastructure: InfrastructureObjects;
  readonly kind: Resource<InfrastructureObject>;
  readonly cloud: InstanceCloud;
  readonly watch: ControllerWatch;
}

const WAIT_MS = 10_000;
const PENDING_MS = 5_000;
const RUNNING_MS = 30_000;
/** Time between reads of two instances: clouds allow about a thousand reads a minute, however many machines there are. */
const SPACING_MS = 60;
const REMOVING_MS = 3_000;

export class InfrastructureMachineController implements CloudController {
  readonly name: string;
  readonly #options: InfrastructureMachineControllerOptions;
  readonly #machines: Informer<InfrastructureObject>;
  readonly #scenes: MachineScenes;
  readonly #reports: MachineReports;
  /** Why machines have failed for good, by UID: the cache shows it a moment later, and must not lead to another try meanwhile. */
  readonly #failed = new Map<string, { readonly reason: string; readonly message: string }>();
  /** When the instance of a machine was last seen running. */
  readonly #seenRunning = new Map<string, number>();
  /** UIDs of machines whose instance was seen to end: when the cloud no longer shows it, it is gone. */
  readonly #ending = new Set<string>();

  constructor(options: InfrastructureMachineControllerOptions) {
    this.#options = options;
    this.name = `cluster-api.provider.${options.kind.plural}`;
    const { client, clock, random, kind, management } = options;
    const { namespace, cluster } = management.options;
    const selection = {
      ...(namespace !== undefined && { namespace }),
      ...(cluster !== undefined && { labelSelector: `${LABEL_CLUSTER_NAME}=${cluster}` }),
    };
    this.#machines = new Informer({ client, clock, random, kind, selection });
    this.#scenes = new MachineScenes(options);
    this.#reports = new MachineReports({ client, clock, kind });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger, management, kind } = this.#options;
    const controller = new Controller({
      ...{ name: this.name, clock, logger, concurrency: 16 },
      // A create is waited for, which takes minutes on Azure.
      timeoutMs: 600_000,
      reconcile: (key, context) => this.#reconcile(key, context.signal),
    });
    const stops = [
      enqueueOn(this.#machines, controller.queue),
      enqueueOn(management.machineCache, controller.queue, ({ metadata, spec }) => {
        const reference = referred(spec?.infrastructureRef);
        return reference?.kind === kind.kind ? [`${metadata.namespace}/${reference.name}`] : [];
      }),
    ];
    try {
      await Promise.all([this.#machines.run(signal), this.#whenSynced(controller, signal)]);
    } finally {
      for (const stop of stops) stop();
    }
  }

  /** Nothing is decided before Machines and Clusters are known. */
  async #whenSynced(controller: Controller, signal: AbortSignal): Promise<void> {
    const { management, clusters } = this.#options;
    try {
      await Promise.all([management.machineCache.synced(signal), clusters.synced(signal)]);
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    await controller.run(signal);
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const machine = this.#machines.get(key);
    if (machine === undefined) return undefined;
    const { watch, cloud } = this.#options;
    const foreign = foreignOwner(machine, cloud.kinds, watch.other);
    if (foreign !== undefined) {
      this.#tell(machine, 'Warning', 'OwnedByAnotherController', `${foreign}: Spindrift leaves it alone`);
      return { requeueAfterMs: RUNNING_MS };
    }
    const scene = await this.#scenes.of(machine, signal);
    if (isPaused(machine) || scene.cluster?.spec?.paused === true) return { requeueAfterMs: RUNNING_MS };
    if (machine.metadata.deletionTimestamp !== undefined) return this.#remove(machine, scene, signal);
    const step = decideMachineStep(machine, scene);
    switch (step.kind) {
      case 'wait':
        await this.#reports.write(
          machine,
          reportWithoutInstance(machine, { ...step, lasting: false }, this.#now()),
          signal,
        );
        return { requeueAfterMs: WAIT_MS };
      case 'fail':
        await this.#fail(machine, step.reason, step.message, signal);
        return undefined;
      case 'stay-failed':
        return undefined;
      case 'launch':
        return (await this.#failAgain(machine, signal)) ?? this.#launch(machine, scene, step.bootstrapSecret, signal);
      case 'observe':
        return this.#observe(machine, scene, signal);
    }
  }

  async #launch(
    machine: InfrastructureObject,
    scene: MachineScene,
    bootstrapSecret: string,
    signal: AbortSignal,
  ): Promise<ReconcileResult | undefined> {
    const { client, cloud, kind } = this.#options;
    const place = placeOf(machine, scene);
    const { owner } = scene;
    if (place === undefined || owner === undefined) return { requeueAfterMs: WAIT_MS };
    const userData = await this.#bootstrapData(machine, bootstrapSecret, signal);
    if (userData === undefined) return { requeueAfterMs: WAIT_MS };
    const marked = await this.#mark(machine, signal);
    const { spec = {} } = marked;
    const settings = machineSettings(kind.kind, spec);
    const zone = owner.spec?.failureDomain ?? settings.zone;
    const version = owner.spec?.version;
    const role = owner.metadata.labels?.[LABEL_CONTROL_PLANE] === undefined ? 'node' : 'control-plane';
    const order: InstanceOrder = {
      ...{ ...place, spec, settings, userData },
      role,
      ...(zone !== undefined && { zone }),
      ...(version !== undefined && { version }),
    };
    let instance: SeenInstance;
    try {
      instance = (await cloud.find(place, signal)) ?? (await cloud.create(order, signal));
    } catch (error) {
      if (!isLasting(error)) throw error;
      await this.#fail(marked, reasonOf(error), asError(error).message, signal);
      return undefined;
    }
    const body = { spec: { ...instance.spec, providerID: instance.providerID } };
    const named = await client.patch(kind, keyOf(machine), { type: 'merge', body }, { signal });
    this.#tell(machine, 'Normal', 'InstanceLaunched', `instance ${instance.providerID} was launched`);
    await this.#reports.write(named, reportWithInstance(cloud.kinds, named, instance, this.#now()), signal);
    return { requeueAfterMs: PENDING_MS };
  }

  async #bootstrapData(machine: InfrastructureObject, name: string, signal: AbortSignal): Promise<Buffer | undefined> {
    const { client } = this.#options;
    const { namespace = '' } = machine.metadata;
    try {
      const { data } = await client.get(SECRETS, { namespace, name }, { signal });
      if (data?.value !== undefined) return Buffer.from(data.value, 'base64');
    } catch (error) {
      if (!hasCode(error, 'KUBE_NOT_FOUND')) throw error;
    }
    const message = `Secret ${name} with the key value is not there`;
    const failure = { reason: 'WaitingForBootstrapData', message, lasting: false };
    await this.#reports.write(machine, reportWithoutInstance(machine, failure, this.#now()), signal);
    return undefined;
  }

  /** Before anything is launched it is written down, so that a process that is killed leaves no instance that is looked for nowhere. */
  async #mark(machine: InfrastructureObject, signal: AbortSignal): Promise<InfrastructureObject> {
    const { client, kind } = this.#options;
    const { finalizers = [], annotations, resourceVersion } = machine.metadata;
    if (finalizers.includes(FINALIZER_INSTANCE) && annotations?.[ANNOTATION_LAUNCHED_AT] !== undefined) return machine;
    const metadata = {
      resourceVersion,
      finalizers: [...new Set([...finalizers, FINALIZER_INSTANCE])],
      annotations: { [ANNOTATION_LAUNCHED_AT]: toTimestamp(this.#now()) },
    };
    return client.patch(kind, keyOf(machine), { type: 'merge', body: { metadata } }, { signal });
  }

  async #observe(
    machine: InfrastructureObject,
    scene: MachineScene,
    signal: AbortSignal,
  ): Promise<ReconcileResult | undefined> {
    const { cloud } = this.#options;
    const place = placeOf(machine, scene);
    if (place === undefined) return { requeueAfterMs: WAIT_MS };
    const restMs = this.#restMs(place.uid);
    // Whatever else has changed, the instance need not be asked for again.
    if (restMs > 0) return { requeueAfterMs: restMs };
    const found = await cloud.find(place, signal);
    if (found === undefined && this.#isYoung(machine)) return { requeueAfterMs: PENDING_MS };
    const instance = found ?? goneInstance(machine);
    if (found !== undefined && LOST.has(found.state)) this.#ending.add(place.uid);
    if (LOST.has(instance.state) && machine.status?.failureReason === undefined)
      this.#tell(machine, 'Warning', 'InstanceLost', `instance ${instance.providerID} is ${instance.stateText}`);
    await this.#reports.write(machine, reportWithInstance(cloud.kinds, machine, instance, this.#now()), signal);
    if (instance.state === 'pending') return { requeueAfterMs: PENDING_MS };
    this.#seenRunning.set(place.uid, this.#options.clock.elapsed());
    return { requeueAfterMs: this.#restMs(place.uid) };
  }

  /** How long an instance that was seen running is left in peace. */
  #restMs(uid: string): number {
    const seenAt = this.#seenRunning.get(uid);
    if (seenAt === undefined) return 0;
    const periodMs = Math.max(RUNNING_MS, this.#machines.size * SPACING_MS);
    return Math.max(0, seenAt + periodMs - this.#options.clock.elapsed());
  }

  async #remove(
    machine: InfrastructureObject,
    scene: MachineScene,
    signal: AbortSignal,
  ): Promise<ReconcileResult | undefined> {
    const { client, cloud, kind } = this.#options;
    const { finalizers = [], resourceVersion, annotations } = machine.metadata;
    if (!finalizers.includes(FINALIZER_INSTANCE)) return undefined;
    const place = placeOf(machine, scene);
    const wasLaunched = annotations?.[ANNOTATION_LAUNCHED_AT] !== undefined || machine.spec?.providerID !== undefined;
    if (wasLaunched) {
      if (place === undefined) {
        const message = 'its instance cannot be deleted, as its Cluster or the infrastructure of that is gone';
        this.#tell(machine, 'Warning', 'InstanceUnreachable', message);
        return { requeueAfterMs: RUNNING_MS };
      }
      const left = await cloud.remove(place, signal);
      if (left === 'terminating') this.#ending.add(place.uid);
      // An instance so young may not be shown yet, unless it was seen to end.
      const isUnsure = this.#isYoung(machine) && !this.#ending.has(place.uid);
      if (left === 'terminating' || isUnsure) return { requeueAfterMs: REMOVING_MS };
    }
    const metadata = { resourceVersion, finalizers: finalizers.filter((each) => each !== FINALIZER_INSTANCE) };
    await client.patch(kind, keyOf(machine), { type: 'merge', body: { metadata } }, { signal }).catch((error) => {
      if (!hasCode(error, 'KUBE_NOT_FOUND')) throw error;
    });
    this.#forget(machine);
    return undefined;
  }

  #forget({ metadata: { uid = '' } }: InfrastructureObject): void {
    this.#failed.delete(uid);
    this.#reports.forget(uid);
    this.#seenRunning.delete(uid);
    this.#ending.delete(uid);
  }

  #isYoung({ metadata }: InfrastructureObject): boolean {
    const launchedAt = parseTimestamp(metadata.annotations?.[ANNOTATION_LAUNCHED_AT]);
    return launchedAt !== undefined && this.#now() - launchedAt < this.#options.cloud.settleMs;
  }

  async #fail(machine: InfrastructureObject, reason: string, message: string, signal: AbortSignal): Promise<void> {
    this.#failed.set(machine.metadata.uid ?? '', { reason, message });
    this.#tell(machine, 'Warning', 'InstanceCreateFailed', message);
    await this.#reports.write(
      machine,
      reportWithoutInstance(machine, { reason, message, lasting: true }, this.#now()),
      signal,
    );
  }

  /** Writes a failure that is known and not seen yet; undefined where there is none. */
  async #failAgain(machine: InfrastructureObject, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const known = this.#failed.get(machine.metadata.uid ?? '');
    if (known === undefined) return undefined;
    await this.#fail(machine, known.reason, known.message, signal);
    return {};
  }

  #tell(machine: InfrastructureObject, type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.#options.recorder.record({ object: machine, type, reason, message });
  }

  #now(): ReturnType<Clock['now']> {
    return this.#options.clock.now();
  }
}

const LOST: ReadonlySet<SeenInstance['state']> = new Set(['stopping', 'stopped', 'gone']);

function isPaused({ metadata }: InfrastructureObject): boolean {
  return metadata.annotations?.[ANNOTATION_PAUSED] !== undefined;
}

/** Whether trying again cannot help: the cloud has none, or does not accept the order as it is. */
function isLasting(error: unknown): boolean {
  return error instanceof SpindriftError && (error.retry === 'capacity' || error.retry === 'terminal');
}

function reasonOf(error: unknown): string {
  return hasCode(error, 'CLOUD_INSUFFICIENT_CAPACITY', 'CLOUD_QUOTA_EXCEEDED')
    ? 'InstanceProvisionFailed'
    : 'InvalidConfiguration';
}

function goneInstance({ spec, status }: InfrastructureObject): SeenInstance {
  const zone = typeof status?.failureDomain === 'string' ? status.failureDomain : '';
  return { providerID: `${spec?.providerID}`, state: 'gone', stateText: 'terminated', zone, addresses: [] };
}
