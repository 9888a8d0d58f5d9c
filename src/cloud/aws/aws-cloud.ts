/** The AWS driver: EC2 capacity of all three kinds for node classes of kind EC2NodeClass. */
import type { Instance } from '@aws-sdk/client-ec2';
import type { Ec2NodeClass } from '../../apis/aws/ec2-node-class.ts';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { InstanceType } from '../../engine/problem.ts';
import type { Informer } from '../../kube/informer.ts';
import type { Clock } from '../../platform/clock.ts';
import { SpindriftError } from '../../platform/errors.ts';
import type { Catalogue, Cloud, CloudController, Drift, LaunchAnswer, LaunchRequest, NoticeSource } from '../cloud.ts';
import type { Machine, MachineRef } from '../machine.ts';
import type { NodeClass, NodeClassKind } from '../node-class-kind.ts';
import type { AwsApi } from './api/aws-api.ts';
import { isNotFound } from './api/aws-error.ts';
import { AWS_LABELS } from './aws-labels.ts';
import { type Ec2Catalogue, reservationCounts } from './catalogue/ec2-catalogue.ts';
import type { LearnedMemory } from './catalogue/learned-memory.ts';
import type { RegionMarket } from './catalogue/region-market.ts';
import { ec2Drift } from './drift.ts';
import type { FleetLauncher } from './launch/fleet-launcher.ts';
import { type Ec2Machine, ec2Machine } from './machines/ec2-machine.ts';
import type { Instances } from './machines/instances.ts';
import { parseProviderID } from './machines/provider-id.ts';
import { AWS_REPAIR_POLICIES } from './repair-policies.ts';
import type { CapacityReservations } from './selectors/reservations.ts';

/** A new instance may be missing from EC2's answers for some seconds, usually one. */
const SETTLE_MS = 30_000;
/** Before an instance counts as drifted, its reservations are looked up again if the answer is older than this. */
const FRESH_MS = 5_000;

export interface AwsCloudOptions {
  readonly api: AwsApi;
  readonly clock: Clock;
  readonly region: string;
  readonly nodeClass: NodeClassKind<Ec2NodeClass>;
  readonly nodeClasses: Pick<Informer<NodeClass>, 'get'>;
  readonly nodeClaims: Pick<Informer<NodeClaim>, 'list'>;
  readonly market: RegionMarket;
  readonly learned: LearnedMemory;
  readonly catalogue: Ec2Catalogue;
  readonly reservations: CapacityReservations;
  readonly instances: Instances;
  readonly launcher: FleetLauncher;
  readonly noticeSources: readonly NoticeSource[];
  readonly controllers: readonly CloudController[];
}

export class AwsCloud implements Cloud {
  readonly name = 'aws';
  readonly labels = AWS_LABELS;
  readonly settleMs = SETTLE_MS;
  readonly repairPolicies = AWS_REPAIR_POLICIES;
  readonly nodeClass: NodeClassKind;
  readonly noticeSources: readonly NoticeSource[];
  readonly controllers: readonly CloudController[];
  readonly #options: AwsCloudOptions;
  readonly #rebooted = new Set<string>();

  constructor(options: AwsCloudOptions) {
    this.#options = options;
    this.nodeClass = options.nodeClass as unknown as NodeClassKind;
    this.noticeSources = options.noticeSources;
    this.controllers = options.controllers;
  }

  scopes(): readonly string[] {
    return [this.#options.region];
  }

  scopeOf(): string {
    return this.#options.region;
  }

  async catalogue(nodeClass: NodeClass, signal: AbortSignal): Promise<Catalogue> {
    const { reservations, clock } = this.#options;
    const ec2Class = nodeClass as Ec2NodeClass;
    const terms = ec2Class.spec.capacityReservationSelectorTerms ?? [];
    const [selected] = await Promise.all([reservations.select(terms, signal), this.#options.market.load(signal)]);
    return {
      instanceTypes: this.#types(ec2Class),
      reservations: reservationCounts(ec2Class, selected, clock),
      countedAt: reservations.countedAt(terms),
    };
  }

  async launch(request: LaunchRequest, signal: AbortSignal): Promise<LaunchAnswer> {
    await this.#options.market.load(signal);
    const nodeClass = request.nodeClass as Ec2NodeClass;
    const types = new Map(this.#types(nodeClass).map((type) => [type.name, type]));
    return this.#options.launcher.launch(request, nodeClass, (name) => types.get(name), signal);
  }

  async find(claim: NodeClaim, signal: AbortSignal): Promise<Machine | undefined> {
    const { uid = '' } = claim.metadata;
    const instance = await this.#options.instances.ofClaim(uid, signal);
    return instance === undefined ? undefined : this.#machine(instance, signal);
  }

  async get(providerID: string, signal: AbortSignal): Promise<Machine> {
    const id = parseProviderID(providerID)?.instanceId;
    const instance = id === undefined ? undefined : await this.#options.instances.get(id, signal);
    const machine = instance === undefined ? undefined : await this.#machine(instance, signal);
    if (machine === undefined) throw new SpindriftError('CLOUD_INSTANCE_NOT_FOUND', { instance: providerID });
    return machine;
  }

  async list(_scope: string, signal: AbortSignal): Promise<readonly Machine[]> {
    const instances = await this.#options.instances.list(signal);
    const claims = this.#claimsByMachine();
    const machines = await Promise.all(instances.map((instance) => this.#machine(instance, signal, claims)));
    return machines.filter((machine) => machine !== undefined);
  }

  async delete({ providerID, claimUID }: MachineRef, signal: AbortSignal): Promise<'terminating' | 'gone'> {
    const { instances } = this.#options;
    const id = providerID === undefined ? undefined : parseProviderID(providerID)?.instanceId;
    const instance = id === undefined ? await instances.ofClaim(claimUID, signal) : await instances.get(id, signal);
    const machine = instance === undefined ? undefined : ec2Machine(instance, () => undefined);
    if (machine === undefined) return 'gone';
    if (machine.ending) return 'terminating';
    return (await instances.terminate(machine.instanceId, signal)) ? 'terminating' : 'gone';
  }

  async drift(
    _claim: NodeClaim,
    nodeClass: NodeClass,
    machine: Machine,
    signal: AbortSignal,
  ): Promise<Drift | undefined> {
    await this.#options.market.load(signal);
    const ec2Class = nodeClass as Ec2NodeClass;
    const types = this.#types(ec2Class);
    const drift = (selectedReservations?: ReadonlySet<string>): Drift | undefined =>
      ec2Drift({
        machine: machine as Ec2Machine,
        nodeClass: ec2Class,
        type: types.find(({ name }) => name === machine.instanceType),
        ...(selectedReservations === undefined ? {} : { selectedReservations }),
      });
    if (machine.reservationId === undefined) return drift();
    const kept = drift(await this.#selected(ec2Class, signal));
    if (kept?.reason !== 'CapacityReservationDrift') return kept;
    return drift(await this.#selected(ec2Class, signal, FRESH_MS));
  }

  async reboot(providerID: string, operation: string, signal: AbortSignal): Promise<void> {
    if (this.#rebooted.has(operation)) return;
    // EC2 accepts the reboot of an instance that has just terminated.
    const { state } = await this.get(providerID, signal);
    if (state !== 'running' && state !== 'pending') {
      throw new SpindriftError('CLOUD_REBOOT_REFUSED', { instance: providerID, problem: `it is ${state}` });
    }
    const id = parseProviderID(providerID)?.instanceId ?? '';
    try {
      await this.#options.api.call('ec2:RebootInstances', { InstanceIds: [id] }, signal);
      this.#rebooted.add(operation);
    } catch (error) {
      if (isNotFound(error))
        throw new SpindriftError('CLOUD_INSTANCE_NOT_FOUND', { instance: providerID }, { cause: error });
      if (error instanceof SpindriftError && error.code === 'CLOUD_REFUSED') {
        throw new SpindriftError(
          'CLOUD_REBOOT_REFUSED',
          { instance: providerID, problem: error.message },
          { cause: error },
        );
      }
      throw error;
    }
  }

  machineKey(providerID: string): string | undefined {
    return parseProviderID(providerID)?.instanceId;
  }

  async #machine(
    instance: Instance,
    signal: AbortSignal,
    claims?: ReadonlyMap<string, NodeClaim>,
  ): Promise<Ec2Machine | undefined> {
    await this.#options.market.load(signal);
    const machine = ec2Machine(instance, (nodeClass, type) => this.#typeOf(nodeClass, type));
    // Karpenter does not tag instances with the UID of their claim, but the claim names its instance.
    if (machine === undefined || machine.claim.uid !== '') return machine;
    const { name = '', uid = '' } = (claims ?? this.#claimsByMachine()).get(machine.providerID)?.metadata ?? {};
    return uid === '' ? machine : { ...machine, claim: { name, uid } };
  }

  #claimsByMachine(): ReadonlyMap<string, NodeClaim> {
    return new Map(
      this.#options.nodeClaims
        .list()
        .flatMap((claim) =>
          claim.status?.providerID === undefined ? [] : [[claim.status.providerID, claim] as const],
        ),
    );
  }

  #typeOf(nodeClass: string, name: string): InstanceType | undefined {
    const { catalogue, nodeClasses } = this.#options;
    const known = nodeClasses.get({ name: nodeClass }) as Ec2NodeClass | undefined;
    if (known !== undefined) this.#types(known);
    return catalogue.typeOf(nodeClass, name);
  }

  #types(nodeClass: Ec2NodeClass): readonly InstanceType[] {
    const { market, learned, catalogue } = this.#options;
    const { shapes, shapesVersion, prices } = market;
    return catalogue.instanceTypes(nodeClass, { shapes, shapesVersion, prices, learnedVersion: learned.version });
  }

  async #selected(nodeClass: Ec2NodeClass, signal: AbortSignal, maxAgeMs?: number): Promise<ReadonlySet<string>> {
    const terms = nodeClass.spec.capacityReservationSelectorTerms ?? [];
    const selected = await this.#options.reservations.select(terms, signal, maxAgeMs);
    return new Set(selected.map(({ id }) => id));
  }
}
