/**
 * VMs of one resource group with their interfaces. A create that fails leaves its interface, and maybe a VM in state Failed: both are
 * removed, and each attempt has an interface of its own, as one of a failed create cannot be used for minutes.
 */
import type { Labels } from '../../engine/problem.ts';
import { SpindriftError } from '../../platform/errors.ts';
import type { ArmApi } from './arm-api.ts';
import { ArmRefusal } from './arm-api.ts';
import { armFailureKind } from './arm-failure.ts';

/** A VM as the API shows it, as far as we read it. */
export interface Vm {
  readonly name: string;
  readonly zones?: readonly string[];
  readonly tags?: Labels;
  readonly properties?: {
    readonly hardwareProfile?: { readonly vmSize?: string };
    readonly provisioningState?: string;
    readonly priority?: string;
    readonly timeCreated?: string;
    /** Only where it was asked for. */
    readonly instanceView?: { readonly statuses?: readonly { readonly code?: string }[] };
  };
}

export interface NetworkInterface {
  readonly name: string;
  readonly tags?: Labels;
  readonly properties?: {
    readonly virtualMachine?: { readonly id?: string };
    readonly ipConfigurations?: readonly { readonly properties?: { readonly privateIPAddress?: string } }[];
  };
}

/** A VM to create. */
export interface VmCreate {
  readonly name: string;
  /** Names the interface of this try. */
  readonly attempt: string;
  readonly interfaceBody: object;
  vmBody(interfaceID: string): object;
}

export interface VirtualMachinesOptions {
  readonly api: ArmApi;
  readonly subscription: string;
  readonly resourceGroup: string;
}

const COMPUTE = '2025-04-01';
const NETWORK = '2024-05-01';

export class VirtualMachines {
  readonly #api: ArmApi;
  readonly #group: string;

  constructor({ api, subscription, resourceGroup }: VirtualMachinesOptions) {
    this.#api = api;
    this.#group = `/subscriptions/${subscription}/resourceGroups/${resourceGroup}/providers/`;
  }

  async create({ name, attempt, interfaceBody, vmBody }: VmCreate, signal: AbortSignal): Promise<Vm> {
    const interfaceID = `${this.#group}Microsoft.Network/networkInterfaces/${name}-nic-${attempt}`;
    await this.#api.call('PUT', interfaceID, NETWORK, signal, interfaceBody);
    let refused: ArmRefusal | undefined;
    try {
      await this.#api.call('PUT', this.#path(name), COMPUTE, signal, vmBody(interfaceID));
    } catch (error) {
      if (!(error instanceof ArmRefusal)) throw error;
      refused = error;
    }
    // It may be there already, as a former process made it. One whose create failed is no VM that could be used.
    const isMade = refused === undefined || armFailureKind(refused) === 'exists';
    const made = isMade ? await this.read(name, signal) : undefined;
    if (made !== undefined && !isFailed(made)) return made;
    await this.#takeBack(name, signal);
    if (refused !== undefined) throw refused;
    if (made === undefined) throw new SpindriftError('CLOUD_INSTANCE_NOT_FOUND', { instance: name });
    const problem = 'an earlier create had failed; its VM and interfaces are removed before the next try';
    throw new SpindriftError('CLOUD_UNAVAILABLE', { operation: `creating ${name}`, problem });
  }

  /** The VM; undefined where there is none of the name. */
  async read(name: string, signal: AbortSignal, view: 'model' | 'state' = 'model'): Promise<Vm | undefined> {
    const expand = view === 'state' ? '?$expand=instanceView' : '';
    try {
      return await this.#api.call<Vm>('GET', `${this.#path(name)}${expand}`, COMPUTE, signal);
    } catch (error) {
      if (error instanceof ArmRefusal && armFailureKind(error) === 'not-found') return undefined;
      throw error;
    }
  }

  list(signal: AbortSignal): Promise<readonly Vm[]> {
    return this.#api.list<Vm>(`${this.#group}Microsoft.Compute/virtualMachines`, COMPUTE, signal);
  }

  /** Has a VM, its disk and its interfaces deleted; `gone` when nothing of it is left. */
  async remove(name: string, signal: AbortSignal): Promise<'terminating' | 'gone'> {
    const vm = await this.read(name, signal);
    if (vm === undefined) return (await this.#sweep(name, signal)) ? 'terminating' : 'gone';
    if (vm.properties?.provisioningState !== 'Deleting')
      await ignoringGone(this.#api.begin('DELETE', `${this.#path(name)}?forceDeletion=true`, COMPUTE, signal));
    return 'terminating';
  }

  interfaces(signal: AbortSignal): Promise<readonly NetworkInterface[]> {
    return this.#api.list<NetworkInterface>(`${this.#group}Microsoft.Network/networkInterfaces`, NETWORK, signal);
  }

  async deleteInterface(name: string, signal: AbortSignal): Promise<void> {
    const path = `${this.#group}Microsoft.Network/networkInterfaces/${name}`;
    await ignoringGone(this.#api.begin('DELETE', path, NETWORK, signal));
  }

  /** Removes what a failed create left. */
  async #takeBack(name: string, signal: AbortSignal): Promise<void> {
    await ignoringGone(this.#api.call('DELETE', `${this.#path(name)}?forceDeletion=true`, COMPUTE, signal));
    await this.#sweep(name, signal);
  }

  /** Deletes interfaces of a VM that is not there; false when there were none. A reserved one is deleted later. */
  async #sweep(name: string, signal: AbortSignal): Promise<boolean> {
    const all = await this.interfaces(signal);
    const left = all.filter((one) => one.name.toLowerCase().startsWith(`${name}-nic-`));
    for (const { name: each } of left) {
      await this.deleteInterface(each, signal).catch((error) => {
        if (!(error instanceof ArmRefusal) || armFailureKind(error) !== 'exists') throw error;
      });
    }
    return left.length > 0;
  }

  #path(name: string): string {
    return `${this.#group}Microsoft.Compute/virtualMachines/${name}`;
  }
}

/** Whether the create of a VM failed, or a later change of it. */
export function isFailed({ properties }: Vm): boolean {
  return properties?.provisioningState === 'Failed';
}

/** The state of a VM, and Azure's word for it. A VM that was evicted and stays is Succeeded all the same: only its power tells. */
export function vmState({ properties = {} }: Vm): {
  readonly state: 'pending' | 'running' | 'stopping' | 'stopped';
  readonly text: string;
} {
  const { provisioningState = '', instanceView } = properties;
  const power = instanceView?.statuses?.find(({ code }) => code?.startsWith('PowerState/'))?.code;
  if (power !== undefined && OFF.test(power)) return { state: 'stopped', text: power.slice('PowerState/'.length) };
  return { state: STATES[provisioningState] ?? 'pending', text: provisioningState };
}

const OFF = /^PowerState\/(deallocated|deallocating|stopped)$/;
const STATES: Readonly<Record<string, 'running' | 'stopping'>> = { Succeeded: 'running', Deleting: 'stopping' };

/** As on Nodes, which name the group in lower case. */
export function azureProviderID(subscription: string, resourceGroup: string, name: string): string {
  const group = resourceGroup.toLowerCase();
  return `azure:///subscriptions/${subscription}/resourceGroups/${group}/providers/Microsoft.Compute/virtualMachines/${name.toLowerCase()}`;
}

async function ignoringGone(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof ArmRefusal) || armFailureKind(error) !== 'not-found') throw error;
  }
}
