/** The driver of IBM Cloud VPC. */
import type { IBMNodeClass } from '../../apis/ibm/ibm-node-class.ts';
import { ANNOTATION_IBM_INSTANCE } from '../../apis/ibm/labels.ts';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { Labels } from '../../engine/problem.ts';
import type { RankedOffering } from '../../engine/solution.ts';
import { asError, hasCode, SpindriftError } from '../../platform/errors.ts';
import { RecentKeys } from '../../platform/recent-keys.ts';
import type { Catalogue, Cloud, CloudController, Drift, LaunchAnswer, LaunchRequest, NoticeSource } from '../cloud.ts';
import type { CloudWorld } from '../cloud-module.ts';
import type { Machine, MachineRef } from '../machine.ts';
import type { NodeClass, NodeClassKind } from '../node-class-kind.ts';
import type { AccountClient } from './api/account-client.ts';
import { apiRefusal } from './api/ibm-api.ts';
import type { VpcInstance } from './api/vpc-types.ts';
import type { IbmCatalogue } from './catalogue.ts';
import { IBM_LABELS } from './cloud-labels.ts';
import { ibmDrift } from './drift.ts';
import type { CircuitBreaker } from './launch/circuit-breaker.ts';
import { instancePrototype } from './launch/instance-prototype.ts';
import { startState } from './launch/instance-state.ts';
import { launchMachine } from './launch/launch-machine.ts';
import { removeLeftovers } from './launch/leftovers.ts';
import type { Owner, Ownership } from './launch/ownership.ts';
import type { LoadBalancers } from './load-balancers.ts';
import { MachineView } from './machine-view.ts';
import { IBM_NODE_CLASS_KIND } from './node-class/ibm-node-class-kind.ts';
import { parseProviderID } from './provider-id.ts';
import type { Regions } from './regions.ts';
import { IBM_REPAIR_POLICIES } from './repair-policies.ts';

export interface IbmCloudParts {
  readonly world: Pick<CloudWorld, 'clock' | 'logger' | 'informers'>;
  readonly account: AccountClient;
  readonly regions: Regions;
  readonly catalogue: IbmCatalogue;
  readonly ownership: Ownership;
  readonly breaker: CircuitBreaker;
  readonly balancers: LoadBalancers;
  /** Renders the user data of a claim's machine. */
  readonly userData: (
    claim: NodeClaim,
    nodeClass: IBMNodeClass,
    labels: Labels,
    vcpu: number,
    signal: AbortSignal,
  ) => Promise<string>;
  readonly memoryOverhead: number;
  /** Always searched for machines, even if no class names it. */
  readonly homeRegion: string | undefined;
  readonly noticeSources: readonly NoticeSource[];
  readonly controllers: readonly CloudController[];
}

/** How long a preempted offering is not used: one hour, by the design. */
const PREEMPTED_FOR_MS = 3_600_000;
const SETTLE_MS = 10_000;
/** How long one launch call waits for the machine to start, and its first polling interval. */
const WAIT_MS = 45_000;
const POLL_MS = 2000;
const ASK_AGAIN_MS = 5000;
const REMEMBERED_REBOOTS = 1000;

export class IbmCloud implements Cloud {
  readonly name = 'ibm';
  readonly nodeClass = IBM_NODE_CLASS_KIND as unknown as NodeClassKind;
  readonly labels = IBM_LABELS;
  readonly settleMs = SETTLE_MS;
  readonly repairPolicies = IBM_REPAIR_POLICIES;
  readonly unavailableForMs = { notice: PREEMPTED_FOR_MS };
  readonly noticeSources: readonly NoticeSource[];
  readonly controllers: readonly CloudController[];
  readonly #parts: IbmCloudParts;
  readonly #view: MachineView;
  readonly #reboots = new RecentKeys(REMEMBERED_REBOOTS);

  constructor(parts: IbmCloudParts) {
    this.#parts = parts;
    this.#view = new MachineView({
      ...parts,
      clock: parts.world.clock,
      nodeClass: (name) => this.#class(name),
    });
    this.noticeSources = parts.noticeSources;
    this.controllers = parts.controllers;
  }

  /** One scope per region: names are unique there, and one list covers it. */
  scopes(): readonly string[] {
    const { homeRegion } = this.#parts;
    const regions = this.#classes().map(({ spec }) => spec.region);
    return [...new Set(homeRegion === undefined ? regions : [homeRegion, ...regions])].sort();
  }

  scopeOf(nodeClass: string): string | undefined {
    return this.#class(nodeClass)?.spec.region;
  }

  async catalogue(nodeClass: NodeClass, signal: AbortSignal): Promise<Catalogue> {
    signal.throwIfAborted();
    const { catalogue, world } = this.#parts;
    const countedAt = world.clock.elapsed();
    const instanceTypes = await catalogue.instanceTypes(nodeClass as IBMNodeClass, signal);
    return { instanceTypes, reservations: [], countedAt };
  }

  async launch({ claim, nodeClass, offerings }: LaunchRequest, signal: AbortSignal): Promise<LaunchAnswer> {
    const { breaker } = this.#parts;
    const { metadata, spec } = nodeClass as IBMNodeClass;
    const key = `${metadata.name} in ${spec.region}`;
    const [offering] = offerings;
    if (offering === undefined) return { kind: 'refused', refused: [] };
    breaker.enter(key);
    try {
      const answer = await this.#launch(claim, nodeClass as IBMNodeClass, offering, signal);
      if (answer.kind === 'launched') breaker.succeeded(key);
      return answer;
    } catch (error) {
      // Temporary failures do not open the breaker; the caller retries them.
      if (hasCode(error, 'CLOUD_REFUSED', 'CLOUD_DENIED')) breaker.failed(key, asError(error).message);
      throw error;
    }
  }

  async #launch(
    claim: NodeClaim,
    nodeClass: IBMNodeClass,
    offering: RankedOffering,
    signal: AbortSignal,
  ): Promise<LaunchAnswer> {
    const { world, regions, ownership } = this.#parts;
    const { region } = nodeClass.spec;
    const vpc = regions.vpc(region);
    const owner = ownership.remember(claim);
    const name = ownership.nameOf(owner.uid);
    const subnetId = subnetIn(nodeClass, offering.zone);
    if (subnetId === undefined) {
      const message = `the class has no subnet in ${offering.zone}`;
      return { kind: 'refused', refused: [{ offering: { zone: offering.zone }, cause: 'unsupported', message }] };
    }
    await regions.shapes(region, signal);
    const labels = this.#view.labelsOf(region, offering.instanceType, offering.zone, offering.capacityType);
    const vcpu = regions.shape(region, offering.instanceType)?.vcpu ?? 2;
    const userData = await this.#parts.userData(claim, nodeClass, labels, vcpu, signal);
    const prototype = instancePrototype({
      name,
      nodeClass,
      offering,
      subnetId,
      userData,
      tags: ownership.tagsOf(owner),
    });
    const outcome = await launchMachine(
      { vpc, clock: world.clock, name, offering, prototype, waitMs: WAIT_MS, pollMs: POLL_MS },
      signal,
    );
    if (outcome.kind === 'refused') return { kind: 'refused', refused: [outcome.refusal] };
    const { instance } = outcome;
    if (outcome.kind === 'starting')
      return {
        kind: 'pending',
        annotations: { [ANNOTATION_IBM_INSTANCE]: instance.id },
        askAgainMs: ASK_AGAIN_MS,
        message: `instance ${instance.id} is ${instance.status}`,
      };
    await this.#tag(instance, owner, nodeClass, signal);
    return { kind: 'launched', machine: this.#view.machine(instance, owner, region) };
  }

  /** Tags are for users and billing only, so a launch does not fail because of them. */
  async #tag({ id, crn }: VpcInstance, owner: Owner, { spec }: IBMNodeClass, signal: AbortSignal): Promise<void> {
    const { account, ownership, world } = this.#parts;
    const own = Object.entries(spec.tags ?? {}).map(([key, value]) => `${key}:${value}`.slice(0, 128));
    try {
      await account.attachTags(crn, [...ownership.tagsOf(owner), ...own], signal);
    } catch (error) {
      if (signal.aborted) throw error;
      world.logger.warn('a machine could not be tagged', { instance: id, error: asError(error) });
    }
  }

  /**
   * A machine that is still starting is not returned: the launch continues with it, by its name. A machine that is being deleted is the
   * remainder of a failed launch.
   */
  async find(claim: NodeClaim, signal: AbortSignal): Promise<Machine | undefined> {
    const { ownership } = this.#parts;
    const name = ownership.nameOf(claim.metadata.uid ?? '');
    for (const region of this.#regionsOf(claim.spec.nodeClassRef.name)) {
      const instance = await this.#parts.regions.vpc(region).instanceNamed(name, signal);
      if (instance === undefined) continue;
      if (startState(instance).kind !== 'running') return undefined;
      await this.#parts.regions.shapes(region, signal);
      return this.#view.machine(instance, ownership.remember(claim), region);
    }
    return undefined;
  }

  async get(providerID: string, signal: AbortSignal): Promise<Machine> {
    const { region, instance } = await this.#instance(providerID, signal);
    const vpc = this.#parts.regions.vpc(region);
    await this.#parts.regions.shapes(region, signal);
    const owners = await this.#parts.ownership.ownersOf([instance], vpc, signal);
    return this.#view.machine(instance, owners.get(instance.name), region);
  }

  async list(scope: string, signal: AbortSignal): Promise<readonly Machine[]> {
    const { regions, ownership } = this.#parts;
    const vpc = regions.vpc(scope);
    await regions.shapes(scope, signal);
    const ours = (await vpc.listInstances({}, signal)).filter((instance) => ownership.isOurs(instance));
    const owners = await ownership.ownersOf(ours, vpc, signal);
    return ours.map((instance) => this.#view.machine(instance, owners.get(instance.name), scope));
  }

  async delete({ claimUID, providerID, nodeClass }: MachineRef, signal: AbortSignal): Promise<'terminating' | 'gone'> {
    const { regions, ownership, balancers } = this.#parts;
    const name = ownership.nameOf(claimUID);
    const address = providerID === undefined ? undefined : parseProviderID(providerID);
    const places = address === undefined ? this.#regionsOf(nodeClass) : [address.region];
    let left: 'terminating' | 'gone' = 'gone';
    for (const region of places) {
      const vpc = regions.vpc(region);
      const byId = address === undefined ? undefined : await vpc.getInstance(address.id, signal);
      const instance = byId ?? (await vpc.instanceNamed(name, signal));
      if (instance === undefined) {
        // Even if there never was a machine: a failed create may have left its parts.
        await removeLeftovers(vpc, name, signal);
        continue;
      }
      if (!ownership.isOurs(instance)) continue;
      left = 'terminating';
      if (startState(instance).kind === 'deleting') continue;
      const ofClass = nodeClass === undefined ? undefined : this.#class(nodeClass);
      if (ofClass !== undefined) await balancers.deregister(ofClass, region, instance.id, signal);
      await vpc.deleteInstance(instance.id, signal);
    }
    return left;
  }

  async drift(
    claim: NodeClaim,
    nodeClass: NodeClass,
    machine: Machine,
    signal: AbortSignal,
  ): Promise<Drift | undefined> {
    signal.throwIfAborted();
    return ibmDrift(claim, nodeClass as IBMNodeClass, machine);
  }

  async reboot(providerID: string, operation: string, signal: AbortSignal): Promise<void> {
    const { region, instance } = await this.#instance(providerID, signal);
    if (!this.#reboots.add(`${instance.id} ${operation}`)) return;
    try {
      await this.#parts.regions.vpc(region).instanceAction(instance.id, 'reboot', signal);
    } catch (error) {
      const refused = apiRefusal(error);
      if (refused?.status !== 409) throw error;
      throw new SpindriftError(
        'CLOUD_REBOOT_REFUSED',
        { instance: instance.id, problem: refused.message },
        { cause: error },
      );
    }
  }

  machineKey(providerID: string): string | undefined {
    return parseProviderID(providerID)?.id;
  }

  async #instance(providerID: string, signal: AbortSignal): Promise<{ region: string; instance: VpcInstance }> {
    signal.throwIfAborted();
    const address = parseProviderID(providerID);
    const instance =
      address === undefined ? undefined : await this.#parts.regions.vpc(address.region).getInstance(address.id, signal);
    if (address === undefined || instance === undefined || !this.#parts.ownership.isOurs(instance))
      throw new SpindriftError('CLOUD_INSTANCE_NOT_FOUND', { instance: providerID });
    return { region: address.region, instance };
  }

  #classes(): readonly IBMNodeClass[] {
    return this.#parts.world.informers.nodeClasses.list() as unknown as readonly IBMNodeClass[];
  }

  #class(name: string): IBMNodeClass | undefined {
    return this.#parts.world.informers.nodeClasses.get(name) as IBMNodeClass | undefined;
  }

  #regionsOf(nodeClass: string | undefined): readonly string[] {
    const region = nodeClass === undefined ? undefined : this.scopeOf(nodeClass);
    return region === undefined ? this.scopes() : [region];
  }
}

/** The best subnet of a zone. */
function subnetIn({ status = {} }: IBMNodeClass, zone: string): string | undefined {
  const index = (status.resolvedZones ?? []).indexOf(zone);
  return index < 0 ? undefined : status.selectedSubnets?.[index];
}
