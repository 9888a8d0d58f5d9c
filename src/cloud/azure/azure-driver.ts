/**
 * A thin driver for Azure: one VM with its interface and disk for each claim, spot or regular, in a zone of a region. IDs are compared
 * without case.
 */
import type { AzureNodeClass } from '../../apis/azure/azure-node-class.ts';
import { LABEL_NODE_POOL } from '../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { InstanceType } from '../../engine/problem.ts';
import type { RankedOffering } from '../../engine/solution.ts';
import { type EpochMs, parseTimestamp } from '../../platform/clock.ts';
import { SpindriftError } from '../../platform/errors.ts';
import type { Cloud, CloudLabels, LaunchAnswer, LaunchRequest } from '../cloud.ts';
import { launchOneByOne } from '../launch-one-by-one.ts';
import type { Machine, MachineRef } from '../machine.ts';
import type { MachineShape } from '../machine-shape.ts';
import { machineOfType } from '../thin/sold-shape.ts';
import { ThinDriver, type ThinDriverOptions } from '../thin/thin-driver.ts';
import type { ArmApi, ArmRefusal } from './arm-api.ts';
import { armFailure, refusedByArm } from './arm-failure.ts';
import { azureInstanceTypes } from './instance-types.ts';
import { NODE_CLASS_KIND } from './node-class-kind.ts';
import { azureProviderID, isFailed, VirtualMachines, type Vm, vmState } from './virtual-machines.ts';
import { interfaceBody, vmBody } from './vm-body.ts';
import { azureVmSizes } from './vm-sizes.ts';

export interface AzureDriverOptions extends ThinDriverOptions {
  readonly api: ArmApi;
  readonly subscription: string;
  readonly resourceGroup: string;
  readonly location: string;
}

interface Sku {
  readonly name: string;
  readonly resourceType: string;
  readonly locationInfo?: readonly { readonly zones?: readonly string[] }[];
  readonly restrictions?: readonly {
    readonly type: string;
    readonly restrictionInfo?: { readonly zones?: readonly string[] };
  }[];
  readonly capabilities?: readonly { readonly name: string; readonly value: string }[];
}

const SKUS = '2021-07-01';
/** `/` is not allowed in the keys of tags. */
const TAG_CLUSTER = 'spindrift.dev_cluster';
const TAG_CLAIM_UID = 'spindrift.dev_nodeclaim-uid';
const TAG_CLAIM = 'karpenter.sh_nodeclaim';
const TAG_POOL = 'karpenter.sh_nodepool';
const TAG_NODE_CLASS = 'karpenter.azure.com_azurenodeclass';

export const CLOUD_LABELS: CloudLabels = {
  wellKnown: [
    'karpenter.azure.com/sku-family',
    'karpenter.azure.com/sku-gpu-name',
    'karpenter.azure.com/sku-gpu-count',
  ],
  restrictedDomains: ['karpenter.azure.com'],
};

export class AzureDriver extends ThinDriver {
  override readonly name = 'azure';
  override readonly nodeClass = NODE_CLASS_KIND as unknown as Cloud['nodeClass'];
  override readonly labels = CLOUD_LABELS;
  readonly #options: AzureDriverOptions;
  readonly #vms: VirtualMachines;
  readonly #shapes: ReadonlyMap<string, MachineShape>;

  constructor(options: AzureDriverOptions) {
    super(options, options.location);
    this.#options = options;
    this.#vms = new VirtualMachines(options);
    this.#shapes = new Map(azureVmSizes().map((shape) => [shape.name.toLowerCase(), shape]));
  }

  override async launch(request: LaunchRequest, signal: AbortSignal): Promise<LaunchAnswer> {
    const { claim, nodeClass, attempt } = request;
    const { name = '' } = claim.metadata;
    const present = await this.find(claim, signal);
    if (present !== undefined) return { kind: 'launched', machine: present };
    let serial = 0;
    return launchOneByOne(
      request,
      (offering) =>
        this.ask(`launch of ${name}`, name, signal, (limit) =>
          this.#create(claim, nodeClass as unknown as AzureNodeClass, offering, `${attempt}-${serial++}`, limit),
        ),
      (offering, { cause }) => refusedByArm(offering, cause as ArmRefusal, this.#shapes),
    );
  }

  override async find({ metadata }: NodeClaim, signal: AbortSignal): Promise<Machine | undefined> {
    const found = await this.ask(`looking for ${metadata.name}`, metadata.name ?? '', signal, (limit) =>
      this.#vms.read(nameOf(metadata.uid ?? ''), limit),
    );
    return found === undefined || isFailed(found) ? undefined : this.#machine(found);
  }

  override async get(providerID: string, signal: AbortSignal): Promise<Machine> {
    const name = this.#nameIn(providerID);
    const found = await this.ask(providerID, '', signal, (limit) => this.#vms.read(name, limit, 'state'));
    if (found === undefined) throw new SpindriftError('CLOUD_INSTANCE_NOT_FOUND', { instance: providerID });
    return this.#machine(found);
  }

  override async list(_scope: string, signal: AbortSignal): Promise<readonly Machine[]> {
    const vms = await this.ask('listing VMs', '', signal, (limit) => this.#vms.list(limit));
    return vms.filter(({ tags }) => tags?.[TAG_CLUSTER] === this.#options.cluster).map((vm) => this.#machine(vm));
  }

  override async delete({ claimUID, providerID }: MachineRef, signal: AbortSignal): Promise<'terminating' | 'gone'> {
    const name = providerID === undefined ? nameOf(claimUID) : this.#nameIn(providerID);
    return this.ask(`deleting ${name}`, '', signal, (limit) => this.#vms.remove(name, limit));
  }

  override machineKey(providerID: string): string | undefined {
    return providerID.startsWith('azure://') ? providerID.slice('azure://'.length).toLowerCase() : undefined;
  }

  /** Names of interfaces of this cluster that no VM uses. */
  async unusedInterfaces(signal: AbortSignal): Promise<readonly string[]> {
    const all = await this.ask('listing interfaces', '', signal, (limit) => this.#vms.interfaces(limit));
    const { cluster } = this.#options;
    return all
      .filter(({ tags, properties }) => tags?.[TAG_CLUSTER] === cluster && properties?.virtualMachine === undefined)
      .map(({ name }) => name);
  }

  async deleteInterface(name: string, signal: AbortSignal): Promise<void> {
    await this.ask(`deleting interface ${name}`, '', signal, (limit) => this.#vms.deleteInterface(name, limit));
  }

  async #create(
    claim: NodeClaim,
    { spec, metadata }: AzureNodeClass,
    offering: RankedOffering,
    attempt: string,
    signal: AbortSignal,
  ): Promise<Machine> {
    const { location, cluster } = this.#options;
    const { uid = '', name: claimName = '' } = claim.metadata;
    const name = nameOf(uid);
    const tags = {
      ...spec.tags,
      [TAG_CLUSTER]: cluster,
      [TAG_CLAIM_UID]: uid,
      [TAG_CLAIM]: claimName,
      [TAG_POOL]: claim.metadata.labels?.[LABEL_NODE_POOL] ?? '',
      [TAG_NODE_CLASS]: metadata.name ?? '',
    };
    const made = await this.#vms.create(
      {
        ...{ name, attempt, interfaceBody: interfaceBody(location, spec, tags) },
        vmBody: (interfaceID) => vmBody({ name, location, spec, offering, interfaceID, tags }),
      },
      signal,
    );
    return this.#machine(made);
  }

  #nameIn(providerID: string): string {
    const { subscription, resourceGroup } = this.#options;
    const group = azureProviderID(subscription, resourceGroup, '').toLowerCase();
    if (!providerID.toLowerCase().startsWith(group))
      throw new SpindriftError('CLOUD_INSTANCE_NOT_FOUND', { instance: providerID });
    return providerID.slice(group.length).toLowerCase();
  }

  protected override async sold(signal: AbortSignal): Promise<readonly InstanceType[]> {
    const { api, subscription, location } = this.#options;
    const filter = encodeURIComponent(`location eq '${location}'`);
    const path = `/subscriptions/${subscription}/providers/Microsoft.Compute/skus?$filter=${filter}`;
    const skus = await this.ask('listing sizes', '', signal, (limit) => api.list<Sku>(path, SKUS, limit));
    return skus
      .filter(
        ({ resourceType, restrictions = [] }) =>
          resourceType === 'virtualMachines' && !restrictions.some(({ type }) => type === 'Location'),
      )
      .flatMap((sku) => {
        const shape = this.#shapes.get(sku.name.toLowerCase());
        return shape === undefined ? [] : azureInstanceTypes(shape, zonesOf(sku), isSoldOnSpot(sku), location);
      })
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  #machine(vm: Vm): Machine {
    const { name, zones, tags = {}, properties = {} } = vm;
    const { subscription, resourceGroup, location } = this.#options;
    const instanceType = properties.hardwareProfile?.vmSize ?? '';
    const zone = zones?.[0] === undefined ? NO_ZONE : `${location}-${zones[0]}`;
    const shape = this.#shapes.get(instanceType.toLowerCase());
    const seen = {
      providerID: azureProviderID(subscription, resourceGroup, name),
      state: vmState(vm).state,
      ...{
        instanceType,
        zone,
        capacityType: properties.priority === 'Spot' ? ('spot' as const) : ('on-demand' as const),
      },
      launchedAt: parseTimestamp(properties.timeCreated) ?? (0 as EpochMs),
      claim: { name: tags[TAG_CLAIM] ?? '', uid: tags[TAG_CLAIM_UID] ?? '' },
      pool: tags[TAG_POOL] ?? '',
      nodeClass: tags[TAG_NODE_CLASS] ?? '',
    };
    return machineOfType(seen, location, shape && azureInstanceTypes(shape, [zone], true, location)[0]);
  }

  protected override failure(operation: string, claim: string, error: unknown): unknown {
    return armFailure(operation, claim, error);
  }
}

/** The zone of VMs in regions, and of sizes, that have no zones. */
const NO_ZONE = '0';

/** A resource group has one VM of a name, so that a claim has one VM. */
function nameOf(claimUID: string): string {
  return `spindrift-${claimUID}`.toLowerCase();
}

/** Zones are numbers that are this subscription's own. */
function zonesOf({ locationInfo = [], restrictions = [] }: Sku): readonly string[] {
  const closed = new Set(restrictions.flatMap(({ restrictionInfo }) => restrictionInfo?.zones ?? []));
  const zones = locationInfo.flatMap(({ zones = [] }) => zones);
  return zones.length === 0 ? [NO_ZONE] : zones.filter((zone) => !closed.has(zone));
}

/** Spot that is sold out in the region shows here, and not as a restriction. */
function isSoldOnSpot({ capabilities = [] }: Sku): boolean {
  return capabilities.find(({ name }) => name === 'LowPriorityCapable')?.value !== 'False';
}
