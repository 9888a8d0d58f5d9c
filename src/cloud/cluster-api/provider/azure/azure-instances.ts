/** VMs of Azure for AzureMachines. A resource group has one VM of a name, so that a machine has one VM. */
import { ArmApi, type ArmApiOptions } from '../../../azure/arm-api.ts';
import { armFailure } from '../../../azure/arm-failure.ts';
import { azureProviderID, isFailed, VirtualMachines, type Vm, vmState } from '../../../azure/virtual-machines.ts';
import { limitedCall } from '../../../thin/limited-call.ts';
import type { InfrastructureObject } from '../../infrastructure-objects.ts';
import type { InstanceCloud, InstanceOrder, InstancePlace, SeenInstance } from '../instance-cloud.ts';
import { PROVIDED_KINDS } from '../provided-kinds.ts';
import { azureInterfaceBody, azurePlace, azureVmBody, missingInAzureCluster } from './azure-machine-body.ts';

const TIMEOUT_MS = 540_000;

export class AzureInstances implements InstanceCloud {
  readonly kinds = PROVIDED_KINDS.azure;
  readonly settleMs = 10_000;
  readonly #options: ArmApiOptions;

  constructor(options: ArmApiOptions) {
    this.#options = options;
  }

  missing({ spec = {} }: InfrastructureObject): string | undefined {
    return missingInAzureCluster(spec);
  }

  async create(order: InstanceOrder, signal: AbortSignal): Promise<SeenInstance> {
    const name = nameOf(order);
    // Sentences about the spec come before anything is made.
    const interfaceBody = azureInterfaceBody(order);
    azureVmBody(order, name, '');
    const made = await this.#ask(`launch of ${order.machine}`, order, signal, (vms, limit) =>
      vms.create(
        { name, attempt: '0', interfaceBody, vmBody: (interfaceID) => azureVmBody(order, name, interfaceID) },
        limit,
      ),
    );
    return seen(order, made);
  }

  async find(place: InstancePlace, signal: AbortSignal): Promise<SeenInstance | undefined> {
    const found = await this.#ask(`looking for ${place.machine}`, place, signal, (vms, limit) =>
      vms.read(nameOf(place), limit, 'state'),
    );
    // A VM whose create failed is no instance: it is removed before the next attempt, or with the machine.
    const isLeft = found !== undefined && isFailed(found) && place.providerID === undefined;
    return found === undefined || isLeft ? undefined : seen(place, found);
  }

  remove(place: InstancePlace, signal: AbortSignal): Promise<'terminating' | 'gone'> {
    return this.#ask(`deleting ${place.machine}`, place, signal, (vms, limit) => vms.remove(nameOf(place), limit));
  }

  #ask<Answer>(
    operation: string,
    { cluster, machine }: InstancePlace,
    signal: AbortSignal,
    work: (vms: VirtualMachines, signal: AbortSignal) => Promise<Answer>,
  ): Promise<Answer> {
    const { clock } = this.#options;
    const vms = new VirtualMachines({ api: new ArmApi(this.#options), ...azurePlace(cluster) });
    const failure = (error: unknown): unknown => armFailure(operation, machine, error);
    return limitedCall({ clock, timeoutMs: TIMEOUT_MS, signal, failure }, (limit) => work(vms, limit));
  }
}

function nameOf({ uid }: InstancePlace): string {
  return `spindrift-${uid}`.toLowerCase();
}

function seen({ cluster }: InstancePlace, vm: Vm): SeenInstance {
  const { subscription, resourceGroup } = azurePlace(cluster);
  const { state, text: stateText } = vmState(vm);
  const providerID = azureProviderID(subscription, resourceGroup, vm.name);
  return { providerID, state, stateText, zone: vm.zones?.[0] ?? '', addresses: [] };
}
