/**
 * All enabled clouds, as controllers see them. Finds the cloud of a claim, pool or node and passes each call on to it. Objects
 * of clouds that are not enabled belong to another autoscaler: their capacity counts, and they are never written.
 */
import { LABEL_NODE_POOL, nodeClassLabel } from '../apis/karpenter/labels.ts';
import type { NodeClaim } from '../apis/karpenter/node-claim.ts';
import type { NodePool } from '../apis/karpenter/node-pool.ts';
import type { Node } from '../apis/kubernetes/node.ts';
import type { InstanceType, Labels } from '../engine/problem.ts';
import type { EpochMs } from '../platform/clock.ts';
import { SpindriftError } from '../platform/errors.ts';
import { type CallMeasure, UNMEASURED } from './call-measure.ts';
import type { Cloud, CloudController, CloudLabels, Drift, NoticeSource } from './cloud.ts';
import type { EnabledCloud, NodeClassReadiness } from './enabled-cloud.ts';
import type { Machine, MachineRef } from './machine.ts';
import { type NodeClassReference, nodeClassKey } from './node-class-kind.ts';
import { type RepairPolicy, usableRepairPolicies } from './repair-policy.ts';

/** The machines of one account and region, or why they could not be listed. */
export type ScopeListing =
  | { readonly scope: string; readonly machines: readonly Machine[] }
  | { readonly scope: string; readonly error: unknown };

/** A source of notices, and the cloud of the machines in them. */
export interface CloudNoticeSource {
  readonly cloud: string;
  readonly source: NoticeSource;
}

/** What controllers ask of the clouds. */
export interface Clouds {
  /** Whether the cloud of a claim, pool or node is enabled here. */
  isOurs(object: NodeClaim | NodePool | Node): boolean;
  /** Whether the cloud of a node class is enabled here. */
  isEnabled(nodeClass: NodeClassReference): boolean;
  /** The labels of a node class's cloud. Undefined if that cloud is not enabled. */
  labelsOf(nodeClass: NodeClassReference): CloudLabels | undefined;
  /** The labels of all clouds. */
  readonly labels: readonly CloudLabels[];
  /** The reservation ID in the labels of a claim or node. */
  reservationOf(labels: Labels): string | undefined;

  instanceTypes(nodeClass: NodeClassReference, signal: AbortSignal, pool?: string): Promise<readonly InstanceType[]>;
  /** The machine of a claim or node. Rejects with CLOUD_INSTANCE_NOT_FOUND once it is gone. */
  get(object: NodeClaim | Node, signal: AbortSignal): Promise<Machine>;
  /** All machines of this cluster, per account and region. */
  list(signal: AbortSignal): Promise<readonly ScopeListing[]>;
  /** The scope in which the machine of a claim is listed. Undefined if it is unknown. */
  scopeOf(claim: NodeClaim): string | undefined;
  /** Deletes the machine of a claim or node. Repeat it until it answers `gone`. */
  delete(object: NodeClaim | Node, machine: MachineRef, signal: AbortSignal): Promise<'terminating' | 'gone'>;
  /** Deletes a machine whose claim is gone. */
  deleteMachine(scope: string, machine: Machine, signal: AbortSignal): Promise<'terminating' | 'gone'>;
  drift(claim: NodeClaim, signal: AbortSignal): Promise<Drift | undefined>;
  reboot(claim: NodeClaim, operation: string, signal: AbortSignal): Promise<void>;
  /** Whether the cloud of a claim can reboot machines. */
  canReboot(claim: NodeClaim): boolean;
  readiness(nodeClass: NodeClassReference): NodeClassReadiness;
  settleMs(claim: NodeClaim): number;
  repairPolicies(object: NodeClaim | Node): readonly RepairPolicy[];
  takenBack(claim: NodeClaim, since?: EpochMs): void;
  /** The name that notices use for the machine of a claim, unique over all clouds. Undefined while it has no machine. */
  machineKey(claim: NodeClaim): string | undefined;
  /** Whether the cloud of a node class sends interruption warnings itself. Undefined while it is not open. */
  tellsOfInterruptions(nodeClass: NodeClassReference): boolean | undefined;
  /** Calls back with each source of notices as soon as its cloud is open. Returns a function that stops it. */
  onNoticeSource(callback: (source: CloudNoticeSource) => void): () => void;
  /** Runs the clouds' own controllers, each as soon as its cloud is open, until the signal aborts. Rejects when one of them fails. */
  runControllers(signal: AbortSignal): Promise<void>;
}

/** The enabled clouds. */
export class EnabledClouds implements Clouds {
  readonly labels: readonly CloudLabels[];
  readonly #clouds: readonly EnabledCloud[];
  readonly #byKind: ReadonlyMap<string, EnabledCloud>;
  readonly #reservationLabels: readonly string[];
  readonly #measure: CallMeasure;

  constructor(clouds: readonly EnabledCloud[], measure: CallMeasure = UNMEASURED) {
    this.#clouds = clouds;
    this.#measure = measure;
    this.#byKind = new Map(clouds.map((cloud) => [nodeClassKey(cloud.loaded.nodeClass.resource), cloud]));
    this.labels = clouds.map(({ loaded }) => loaded.labels);
    this.#reservationLabels = this.labels.flatMap(({ reservation }) => reservation ?? []);
  }

  /** The same clouds, with calls counted and timed by `measure`. */
  measuredBy(measure: CallMeasure): EnabledClouds {
    return new EnabledClouds(this.#clouds, measure);
  }

  /** Opens each cloud as soon as possible. Resolves when all are open, rejects when the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#clouds.map((cloud) => cloud.run(signal)));
  }

  /** The cloud of a node class. Throws CLOUD_NOT_ENABLED if it is not enabled. */
  of(nodeClass: NodeClassReference): EnabledCloud {
    const key = nodeClassKey(nodeClass);
    const cloud = this.#byKind.get(key);
    if (cloud === undefined) throw new SpindriftError('CLOUD_NOT_ENABLED', { kind: key });
    return cloud;
  }

  isOurs(object: NodeClaim | NodePool | Node): boolean {
    return this.#ofObject(object) !== undefined;
  }

  isEnabled(nodeClass: NodeClassReference): boolean {
    return this.#byKind.has(nodeClassKey(nodeClass));
  }

  labelsOf(nodeClass: NodeClassReference): CloudLabels | undefined {
    return this.#byKind.get(nodeClassKey(nodeClass))?.loaded.labels;
  }

  reservationOf(labels: Labels): string | undefined {
    for (const label of this.#reservationLabels) if (labels[label] !== undefined) return labels[label];
    return undefined;
  }

  async instanceTypes(
    nodeClass: NodeClassReference,
    signal: AbortSignal,
    pool?: string,
  ): Promise<readonly InstanceType[]> {
    signal.throwIfAborted();
    const enabled = this.of(nodeClass);
    return this.#measure({ method: 'GetInstanceTypes', cloud: enabled.name }, async () =>
      enabled.opened().market.instanceTypes(enabled.readyNodeClass(nodeClass.name), signal, pool),
    );
  }

  async get(object: NodeClaim | Node, signal: AbortSignal): Promise<Machine> {
    const { cloud } = this.#serving(object).opened();
    return this.#measure({ method: 'Get', cloud: cloud.name }, () => cloud.get(providerIDOf(object), signal));
  }

  async list(signal: AbortSignal): Promise<readonly ScopeListing[]> {
    const open = this.#clouds.flatMap((enabled) => enabled.open?.cloud ?? []);
    return Promise.all(open.flatMap((cloud) => cloud.scopes().map((scope) => this.#listScope(cloud, scope, signal))));
  }

  scopeOf({ spec }: NodeClaim): string | undefined {
    const cloud = this.of(spec.nodeClassRef).open?.cloud;
    const scope = cloud?.scopeOf(spec.nodeClassRef.name);
    return cloud === undefined || scope === undefined ? undefined : `${cloud.name}/${scope}`;
  }

  async delete(object: NodeClaim | Node, machine: MachineRef, signal: AbortSignal): Promise<'terminating' | 'gone'> {
    const { cloud, market } = this.#serving(object).opened();
    const outcome = await this.#measure({ method: 'Delete', cloud: cloud.name }, () => cloud.delete(machine, signal));
    if (outcome === 'gone') market.reservations.forget(machine.claimUID);
    return outcome;
  }

  async deleteMachine(scope: string, machine: Machine, signal: AbortSignal): Promise<'terminating' | 'gone'> {
    const name = scope.slice(0, scope.indexOf('/'));
    const cloud = this.#clouds.find((enabled) => enabled.name === name)?.opened().cloud;
    if (cloud === undefined) throw new SpindriftError('CLOUD_NOT_ENABLED', { kind: name });
    const { providerID, claim, nodeClass, pool } = machine;
    return this.#measure({ method: 'Delete', cloud: name, pool }, () =>
      cloud.delete({ providerID, claimUID: claim.uid, nodeClass }, signal),
    );
  }

  async drift(claim: NodeClaim, signal: AbortSignal): Promise<Drift | undefined> {
    const { nodeClassRef } = claim.spec;
    const enabled = this.of(nodeClassRef);
    const { cloud } = enabled.opened();
    const nodeClass = enabled.readyNodeClass(nodeClassRef.name);
    const { hash } = cloud.nodeClass;
    const { annotations = {} } = claim.metadata;
    // Hashes of different versions cannot be compared.
    const before = annotations[hash?.versionAnnotation ?? ''] === hash?.version && annotations[hash?.annotation ?? ''];
    if (hash !== undefined && typeof before === 'string' && before !== hash.of(nodeClass)) {
      const message = `${nodeClassRef.kind} ${nodeClassRef.name} has changed since the machine was launched`;
      return { reason: 'NodeClassDrift', message };
    }
    return this.#measure({ method: 'IsDrifted', cloud: cloud.name, pool: poolOf(claim) }, async () => {
      const machine = await cloud.get(claim.status?.providerID ?? '', signal);
      return cloud.drift(claim, nodeClass, machine, signal);
    });
  }

  async reboot(claim: NodeClaim, operation: string, signal: AbortSignal): Promise<void> {
    const { cloud } = this.of(claim.spec.nodeClassRef).opened();
    const instance = claim.status?.providerID ?? '';
    if (cloud.reboot === undefined)
      throw new SpindriftError('CLOUD_REBOOT_REFUSED', { instance, problem: `${cloud.name} has no reboot` });
    const { reboot } = cloud;
    await this.#measure({ method: 'Reboot', cloud: cloud.name, pool: poolOf(claim) }, () =>
      reboot.call(cloud, instance, operation, signal),
    );
  }

  canReboot({ spec }: NodeClaim): boolean {
    return this.#byKind.get(nodeClassKey(spec.nodeClassRef))?.open?.cloud.reboot !== undefined;
  }

  readiness(nodeClass: NodeClassReference): NodeClassReadiness {
    return this.of(nodeClass).readiness(nodeClass.name);
  }

  settleMs({ spec }: NodeClaim): number {
    return this.of(spec.nodeClassRef).open?.cloud.settleMs ?? 0;
  }

  repairPolicies(object: NodeClaim | Node): readonly RepairPolicy[] {
    return usableRepairPolicies(this.#ofObject(object)?.open?.cloud.repairPolicies ?? []);
  }

  takenBack(claim: NodeClaim, since?: EpochMs): void {
    this.of(claim.spec.nodeClassRef).whenOpen(({ market }) => market.takenBack(claim, since));
  }

  machineKey({ spec, status }: NodeClaim): string | undefined {
    const cloud = this.#byKind.get(nodeClassKey(spec.nodeClassRef))?.open?.cloud;
    const key = status?.providerID === undefined ? undefined : cloud?.machineKey(status.providerID);
    return key === undefined ? undefined : `${cloud?.name}/${key}`;
  }

  tellsOfInterruptions(nodeClass: NodeClassReference): boolean | undefined {
    const sources = this.#byKind.get(nodeClassKey(nodeClass))?.open?.cloud.noticeSources;
    return sources?.some(({ warns = true }) => warns);
  }

  onNoticeSource(callback: (source: CloudNoticeSource) => void): () => void {
    const stops = this.#clouds.map((enabled) =>
      enabled.whenOpen(({ cloud, noticeSources }) => {
        for (const source of noticeSources) callback({ cloud: cloud.name, source });
      }),
    );
    return () => {
      for (const stop of stops) stop();
    };
  }

  async runControllers(signal: AbortSignal): Promise<void> {
    const running: Promise<void>[] = [];
    const failure = Promise.withResolvers<never>();
    const start = (controller: CloudController): void => {
      const run = controller.run(signal);
      run.catch(failure.reject);
      running.push(run);
    };
    const stops = this.#clouds.map((enabled) => enabled.whenOpen(({ cloud }) => cloud.controllers.forEach(start)));
    try {
      await Promise.race([aborted(signal), failure.promise]);
      await Promise.all(running);
    } finally {
      for (const stop of stops) stop();
    }
  }

  async #listScope(cloud: Cloud, name: string, signal: AbortSignal): Promise<ScopeListing> {
    const scope = `${cloud.name}/${name}`;
    try {
      const call = () => cloud.list(name, signal);
      return { scope, machines: await this.#measure({ method: 'List', cloud: cloud.name }, call) };
    } catch (error) {
      if (signal.aborted) throw error;
      return { scope, error };
    }
  }

  #serving(object: NodeClaim | Node): EnabledCloud {
    const cloud = this.#ofObject(object);
    if (cloud !== undefined) return cloud;
    throw new SpindriftError('CLOUD_NOT_ENABLED', { kind: nodeClassKey(referenceOf(object) ?? NO_REFERENCE) });
  }

  #ofObject(object: NodeClaim | NodePool | Node): EnabledCloud | undefined {
    const reference = referenceOf(object);
    if (reference !== undefined) return this.#byKind.get(nodeClassKey(reference));
    // A node whose claim is gone says by a label of which node class it was.
    const { labels = {} } = object.metadata;
    return this.#clouds.find(({ loaded }) => labels[nodeClassLabel(loaded.nodeClass.resource)] !== undefined);
  }
}

/** The node class of a claim or pool; a node names none. */
function referenceOf({ spec }: NodeClaim | NodePool | Node): NodeClassReference | undefined {
  if (spec === undefined) return undefined;
  if ('template' in spec) return spec.template.spec.nodeClassRef;
  return 'nodeClassRef' in spec ? spec.nodeClassRef : undefined;
}

const NO_REFERENCE = { group: 'an unknown group', kind: 'an unknown kind' };

function providerIDOf(object: NodeClaim | Node): string {
  const { spec, status } = object as NodeClaim & Node;
  return status?.providerID ?? spec?.providerID ?? '';
}

function poolOf({ metadata }: NodeClaim): string {
  return metadata.labels?.[LABEL_NODE_POOL] ?? '';
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
