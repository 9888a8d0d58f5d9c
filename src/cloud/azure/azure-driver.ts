/**
 * A thin driver for Azure: one VM with its interface and disk for each claim, spot or regular, in a zone of a region.
 *
 * A create that fails leaves its interface, and maybe a VM in state Failed: both are removed before the next offering is tried, and each
 * attempt has an interface of its own, as one of a failed create cannot be used for minutes. IDs are compared without case.
 */
import type { AzureNodeClass } from '../../apis/azure/azure-node-class.ts';
import {
  LABEL_ARCH,
  LABEL_CAPACITY_TYPE,
  LABEL_INSTANCE_TYPE,
  LABEL_NODE_POOL,
  LABEL_OS,
  LABEL_REGION,
  LABEL_ZONE,
} from '../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { InstanceType, Labels } from '../../engine/problem.ts';
import type { RankedOffering } from '../../engine/solution.ts';
import { type Clock, type EpochMs, parseTimestamp } from '../../platform/clock.ts';
import { SpindriftError } from '../../platform/errors.ts';
import type { Catalogue, Cloud, CloudLabels, Drift, LaunchAnswer, LaunchRequest } from '../cloud.ts';
import { launchOneByOne } from '../launch-one-by-one.ts';
import type { Machine, MachineRef } from '../machine.ts';
import { dollars, type MachineShape } from '../machine-shape.ts';
import type { NodeClass } from '../node-class-kind.ts';
import type { ArmApi } from './arm-api.ts';
import { ArmRefusal } from './arm-api.ts';
import { armFailure, armFailureKind } from './arm-failure.ts';
import { NODE_CLASS_KIND } from './node-class-kind.ts';
import { interfaceBody, vmBody } from './vm-body.ts';
import { azureRegionFactor, azureVmSizes } from './vm-sizes.ts';

export interface AzureDriverOptions {
  readonly clock: Clock;
  readonly api: ArmApi;
  readonly subscription: string;
  readonly resourceGroup: string;
  readonly location: string;
  /** The cluster whose VMs these are. */
  readonly cluster: string;
  readonly controllers?: Cloud['controllers'];
  readonly callTimeoutMs?: number;
}

/** A VM as the API shows it, as far as we read it. */
interface Vm {
  readonly name: string;
  readonly zones?: readonly string[];
  readonly tags?: Labels;
  readonly properties?: {
    readonly hardwareProfile?: { readonly vmSize?: string };
    readonly provisioningState?: string;
    readonly priority?: string;
    readonly timeCreated?: string;
  };
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

interface NetworkInterface {
  readonly name: string;
  readonly tags?: Labels;
  readonly properties?: { readonly virtualMachine?: { readonly id?: string } };
}

const COMPUTE = '2025-04-01';
const NETWORK = '2024-05-01';
const SKUS = '2021-07-01';
/** `/` is not allowed in the keys of tags. */
const TAG_CLUSTER = 'spindrift.dev_cluster';
const TAG_CLAIM_UID = 'spindrift.dev_nodeclaim-uid';
const TAG_CLAIM = 'karpenter.sh_nodeclaim';
const TAG_POOL = 'karpenter.sh_nodepool';
const TAG_NODE_CLASS = 'karpenter.azure.com_azurenodeclass';
const CATALOGUE_AGE_MS = 3_600_000;
const MIB = 1024 * 1024;

export const CLOUD_LABELS: CloudLabels = {
  wellKnown: [
    'karpenter.azure.com/sku-family',
    'karpenter.azure.com/sku-gpu-name',
    'karpenter.azure.com/sku-gpu-count',
  ],
  restrictedDomains: ['karpenter.azure.com'],
};

export class AzureDriver implements Cloud {
  readonly name = 'azure';
  readonly nodeClass = NODE_CLASS_KIND as unknown as Cloud['nodeClass'];
  readonly labels = CLOUD_LABELS;
  readonly settleMs = 10_000;
  readonly repairPolicies = [];
  readonly noticeSources = [];
  readonly controllers: Cloud['controllers'];
  readonly #options: AzureDriverOptions;
  readonly #shapes: ReadonlyMap<string, MachineShape>;
  #known:
    | { readonly instanceTypes: readonly InstanceType[]; readonly text: string; readonly askedAt: number }
    | undefined;

  constructor(options: AzureDriverOptions) {
    this.#options = options;
    this.controllers = options.controllers ?? [];
    this.#shapes = new Map(azureVmSizes().map((shape) => [shape.name.toLowerCase(), shape]));
  }

  scopes(): readonly string[] {
    return [this.#options.location];
  }

  scopeOf(): string {
    return this.#options.location;
  }

  async catalogue(_nodeClass: NodeClass, signal: AbortSignal): Promise<Catalogue> {
    const { clock, api, subscription, location } = this.#options;
    const known = this.#known;
    const countedAt = clock.elapsed();
    if (known !== undefined && countedAt - known.askedAt < CATALOGUE_AGE_MS)
      return { instanceTypes: known.instanceTypes, reservations: [], countedAt };
    const path = `/subscriptions/${subscription}/providers/Microsoft.Compute/skus?$filter=${encodeURIComponent(`location eq '${location}'`)}`;
    const skus = await this.#ask('listing sizes', '', signal, (limit) => api.list<Sku>(path, SKUS, limit)).catch(
      (error) => {
        if (known === undefined || signal.aborted) throw error;
        return undefined;
      },
    );
    if (skus === undefined) return { instanceTypes: known?.instanceTypes ?? [], reservations: [], countedAt };
    const instanceTypes = skus
      .filter(
        ({ resourceType, restrictions = [] }) =>
          resourceType === 'virtualMachines' && !restrictions.some(({ type }) => type === 'Location'),
      )
      .flatMap((sku) => {
        const shape = this.#shapes.get(sku.name.toLowerCase());
        return shape === undefined ? [] : instanceTypeOf(shape, zonesOf(sku), isSoldOnSpot(sku), location);
      })
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    const text = JSON.stringify(instanceTypes);
    this.#known = {
      instanceTypes: known?.text === text ? known.instanceTypes : instanceTypes,
      text,
      askedAt: countedAt,
    };
    return { instanceTypes: this.#known.instanceTypes, reservations: [], countedAt };
  }

  async launch(request: LaunchRequest, signal: AbortSignal): Promise<LaunchAnswer> {
    const { claim, nodeClass, attempt } = request;
    const { uid = '', name = '' } = claim.metadata;
    const present = await this.#ask(`looking for ${name}`, name, signal, (limit) => this.#read(nameOf(uid), limit));
    if (present !== undefined && present.properties?.provisioningState !== 'Failed')
      return { kind: 'launched', machine: this.#machine(present) };
    let serial = 0;
    return launchOneByOne(request, (offering) =>
      this.#ask(`launch of ${name}`, name, signal, (limit) =>
        this.#create(claim, nodeClass as unknown as AzureNodeClass, offering, `${attempt}-${serial++}`, limit),
      ),
    );
  }

  async find(claim: NodeClaim, signal: AbortSignal): Promise<Machine | undefined> {
    const found = await this.#ask(`looking for ${claim.metadata.name}`, '', signal, (limit) =>
      this.#read(nameOf(claim.metadata.uid ?? ''), limit),
    );
    return found === undefined || found.properties?.provisioningState === 'Failed' ? undefined : this.#machine(found);
  }

  async get(providerID: string, signal: AbortSignal): Promise<Machine> {
    const name = this.#nameIn(providerID);
    const found = await this.#ask(providerID, '', signal, (limit) => this.#read(name, limit));
    if (found === undefined) throw new SpindriftError('CLOUD_INSTANCE_NOT_FOUND', { instance: providerID });
    return this.#machine(found);
  }

  async list(_scope: string, signal: AbortSignal): Promise<readonly Machine[]> {
    const { api, cluster } = this.#options;
    const vms = await this.#ask('listing VMs', '', signal, (limit) =>
      api.list<Vm>(this.#path('Microsoft.Compute/virtualMachines'), COMPUTE, limit),
    );
    return vms.filter(({ tags }) => tags?.[TAG_CLUSTER] === cluster).map((vm) => this.#machine(vm));
  }

  async delete({ claimUID, providerID }: MachineRef, signal: AbortSignal): Promise<'terminating' | 'gone'> {
    const name = providerID === undefined ? nameOf(claimUID) : this.#nameIn(providerID);
    return this.#ask(`deleting ${name}`, '', signal, async (limit) => {
      const { api } = this.#options;
      const vm = await this.#read(name, limit);
      if (vm === undefined) return (await this.#sweep(name, limit)) ? 'terminating' : 'gone';
      const path = `${this.#path(`Microsoft.Compute/virtualMachines/${name}`)}?forceDeletion=true`;
      if (vm.properties?.provisioningState !== 'Deleting')
        await ignoringGone(api.begin('DELETE', path, COMPUTE, limit));
      return 'terminating';
    });
  }

  async drift(): Promise<Drift | undefined> {
    return undefined;
  }

  machineKey(providerID: string): string | undefined {
    return providerID.startsWith('azure://') ? providerID.slice('azure://'.length).toLowerCase() : undefined;
  }

  /** Names of interfaces of this cluster that no VM uses. */
  async unusedInterfaces(signal: AbortSignal): Promise<readonly string[]> {
    const { api, cluster } = this.#options;
    const path = this.#path('Microsoft.Network/networkInterfaces');
    const all = await this.#ask('listing interfaces', '', signal, (limit) =>
      api.list<NetworkInterface>(path, NETWORK, limit),
    );
    return all
      .filter(({ tags, properties }) => tags?.[TAG_CLUSTER] === cluster && properties?.virtualMachine === undefined)
      .map(({ name }) => name);
  }

  async deleteInterface(name: string, signal: AbortSignal): Promise<void> {
    const path = this.#path(`Microsoft.Network/networkInterfaces/${name}`);
    await this.#ask(`deleting interface ${name}`, '', signal, (limit) =>
      ignoringGone(this.#options.api.begin('DELETE', path, NETWORK, limit)),
    );
  }

  async #create(
    claim: NodeClaim,
    { spec, metadata }: AzureNodeClass,
    offering: RankedOffering,
    attempt: string,
    signal: AbortSignal,
  ): Promise<Machine> {
    const { api, location, cluster } = this.#options;
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
    const interfaceID = this.#path(`Microsoft.Network/networkInterfaces/${name}-nic-${attempt}`);
    const vmPath = this.#path(`Microsoft.Compute/virtualMachines/${name}`);
    await api.call('PUT', interfaceID, NETWORK, signal, interfaceBody(location, spec, tags));
    try {
      await api.call('PUT', vmPath, COMPUTE, signal, vmBody({ name, location, spec, offering, interfaceID, tags }));
    } catch (error) {
      if (error instanceof ArmRefusal) {
        // It is there already, as a former process made it.
        if (armFailureKind(error) === 'conflict') {
          const present = await this.#read(name, signal);
          if (present !== undefined) return this.#machine(present);
        }
        await this.#takeBack(name, signal);
      }
      throw error;
    }
    const made = await this.#read(name, signal);
    if (made === undefined) throw new SpindriftError('CLOUD_INSTANCE_NOT_FOUND', { instance: name });
    return this.#machine(made);
  }

  /** Removes what a failed create left. */
  async #takeBack(name: string, signal: AbortSignal): Promise<void> {
    const { api } = this.#options;
    await ignoringGone(
      api.call(
        'DELETE',
        `${this.#path(`Microsoft.Compute/virtualMachines/${name}`)}?forceDeletion=true`,
        COMPUTE,
        signal,
      ),
    );
    await this.#sweep(name, signal);
  }

  /** Deletes interfaces of a VM that is not there; false when there were none. One that is reserved still goes later. */
  async #sweep(name: string, signal: AbortSignal): Promise<boolean> {
    const { api } = this.#options;
    const all = await api.list<NetworkInterface>(this.#path('Microsoft.Network/networkInterfaces'), NETWORK, signal);
    const left = all.filter((one) => one.name.toLowerCase().startsWith(`${name}-nic-`));
    for (const { name: each } of left) {
      await ignoringGone(
        api.begin('DELETE', this.#path(`Microsoft.Network/networkInterfaces/${each}`), NETWORK, signal),
      ).catch((error) => {
        if (!(error instanceof ArmRefusal) || armFailureKind(error) !== 'conflict') throw error;
      });
    }
    return left.length > 0;
  }

  async #read(name: string, signal: AbortSignal): Promise<Vm | undefined> {
    try {
      return await this.#options.api.call<Vm>(
        'GET',
        this.#path(`Microsoft.Compute/virtualMachines/${name}`),
        COMPUTE,
        signal,
      );
    } catch (error) {
      if (error instanceof ArmRefusal && armFailureKind(error) === 'not-found') return undefined;
      throw error;
    }
  }

  #path(resource: string): string {
    const { subscription, resourceGroup } = this.#options;
    return `/subscriptions/${subscription}/resourceGroups/${resourceGroup}/providers/${resource}`;
  }

  #nameIn(providerID: string): string {
    const { subscription, resourceGroup } = this.#options;
    const group = `azure:///subscriptions/${subscription}/resourceGroups/${resourceGroup}/providers/Microsoft.Compute/virtualMachines/`;
    if (!providerID.toLowerCase().startsWith(group.toLowerCase()))
      throw new SpindriftError('CLOUD_INSTANCE_NOT_FOUND', { instance: providerID });
    return providerID.slice(group.length).toLowerCase();
  }

  #machine({ name, zones, tags = {}, properties = {} }: Vm): Machine {
    const { subscription, resourceGroup, location } = this.#options;
    const instanceType = properties.hardwareProfile?.vmSize ?? '';
    const zone = zones?.[0] === undefined ? '0' : `${location}-${zones[0]}`;
    const shape = this.#shapes.get(instanceType.toLowerCase());
    const {
      capacity = {},
      overhead = {},
      labels = {},
    } = shape === undefined ? {} : (instanceTypeOf(shape, [zone], true, location)[0] ?? {});
    const capacityType = properties.priority === 'Spot' ? 'spot' : 'on-demand';
    return {
      // Nodes name the group in lower case.
      providerID: `azure:///subscriptions/${subscription}/resourceGroups/${resourceGroup.toLowerCase()}/providers/Microsoft.Compute/virtualMachines/${name.toLowerCase()}`,
      state:
        properties.provisioningState === 'Deleting'
          ? 'stopping'
          : properties.provisioningState === 'Succeeded'
            ? 'running'
            : 'pending',
      ...{ instanceType, zone, capacityType, capacity },
      labels: {
        ...labels,
        [LABEL_INSTANCE_TYPE]: instanceType,
        [LABEL_ZONE]: zone,
        [LABEL_REGION]: location,
        [LABEL_CAPACITY_TYPE]: capacityType,
      },
      allocatable: Object.fromEntries(
        Object.entries(capacity).map(([key, amount]) => [key, amount - (overhead[key] ?? 0)]),
      ),
      launchedAt: parseTimestamp(properties.timeCreated) ?? (0 as EpochMs),
      claim: { name: tags[TAG_CLAIM] ?? '', uid: tags[TAG_CLAIM_UID] ?? '' },
      pool: tags[TAG_POOL] ?? '',
      nodeClass: tags[TAG_NODE_CLASS] ?? '',
    };
  }

  /** Calls with a time limit, and says refusals in the words of controllers. */
  async #ask<Answer>(
    operation: string,
    claim: string,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<Answer>,
  ): Promise<Answer> {
    const { clock, callTimeoutMs = 120_000 } = this.#options;
    signal.throwIfAborted();
    const limit = clock.deadline(callTimeoutMs, signal);
    try {
      return await work(limit.signal);
    } catch (error) {
      throw armFailure(operation, claim, error);
    } finally {
      limit.cancel();
    }
  }
}

/** A resource group has one VM of a name, so that a claim has one VM. */
function nameOf(claimUID: string): string {
  return `spindrift-${claimUID}`.toLowerCase();
}

/** Zones are numbers that are this subscription's own. */
function zonesOf({ locationInfo = [], restrictions = [] }: Sku): readonly string[] {
  const closed = new Set(restrictions.flatMap(({ restrictionInfo }) => restrictionInfo?.zones ?? []));
  return locationInfo.flatMap(({ zones = [] }) => zones).filter((zone) => !closed.has(zone));
}

/** Spot that is sold out in the region shows here, and not as a restriction. */
function isSoldOnSpot({ capabilities = [] }: Sku): boolean {
  return capabilities.find(({ name }) => name === 'LowPriorityCapable')?.value !== 'False';
}

function instanceTypeOf(
  shape: MachineShape,
  zones: readonly string[],
  spot: boolean,
  location: string,
): readonly InstanceType[] {
  const factor = azureRegionFactor(location);
  const { accelerator } = shape;
  const places = zones.map((zone) => (/^\d$/.test(zone) ? `${location}-${zone}` : zone)).sort();
  if (places.length === 0) return [];
  return [
    {
      name: shape.name,
      labels: {
        [LABEL_ARCH]: shape.arch,
        [LABEL_OS]: 'linux',
        [LABEL_REGION]: location,
        'karpenter.azure.com/sku-family': shape.family.slice(0, 1),
        ...(accelerator && {
          'karpenter.azure.com/sku-gpu-name': accelerator.model,
          'karpenter.azure.com/sku-gpu-count': `${accelerator.count}`,
        }),
      },
      capacity: {
        cpu: shape.vcpus * 1000,
        memory: Math.floor(shape.memoryMib * 0.925) * MIB,
        pods: 110,
        ...(accelerator && { [accelerator.resource]: accelerator.count }),
      },
      overhead: { cpu: 60 + 10 * shape.vcpus, memory: (750 + Math.ceil(shape.memoryMib * 0.06)) * MIB },
      offerings: places.flatMap((zone) => [
        { zone, capacityType: 'on-demand' as const, price: dollars(shape.onDemand * factor) },
        ...(spot ? [{ zone, capacityType: 'spot' as const, price: dollars(shape.spot * factor) }] : []),
      ]),
    },
  ];
}

async function ignoringGone(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof ArmRefusal) || armFailureKind(error) !== 'not-found') throw error;
  }
}
