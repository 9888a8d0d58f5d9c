/** The bodies of a VM and of its network interface, as Azure's schema wants them. Pure. */
import type { AzureNodeClassSpec } from '../../apis/azure/azure-node-class.ts';
import type { RankedOffering } from '../../engine/solution.ts';

export interface VmInput {
  readonly name: string;
  readonly location: string;
  readonly spec: AzureNodeClassSpec;
  readonly offering: RankedOffering;
  readonly interfaceID: string;
  readonly tags: Readonly<Record<string, string>>;
  /** USD per hour that may be paid for spot; up to the on-demand price when absent. */
  readonly maxPrice?: number;
}

export function vmBody({ name, location, spec, offering, interfaceID, tags, maxPrice = -1 }: VmInput): object {
  const zone = /-(\d)$/.exec(offering.zone)?.[1];
  const user = spec.adminUsername ?? 'azureuser';
  const isSpot = offering.capacityType === 'spot';
  return {
    location,
    ...(zone !== undefined && { zones: [zone] }),
    tags,
    properties: {
      hardwareProfile: { vmSize: offering.instanceType },
      storageProfile: {
        imageReference: { id: spec.imageID },
        // Disk and interface go with the VM.
        osDisk: {
          name: `${name}-disk`,
          createOption: 'FromImage',
          deleteOption: 'Delete',
          diskSizeGB: spec.osDiskSizeGB ?? 128,
        },
      },
      networkProfile: {
        networkInterfaces: [{ id: interfaceID, properties: { primary: true, deleteOption: 'Delete' } }],
      },
      osProfile: {
        computerName: name.slice(0, 63),
        adminUsername: user,
        ...(spec.userData !== undefined && { customData: Buffer.from(spec.userData).toString('base64') }),
        linuxConfiguration: {
          disablePasswordAuthentication: true,
          ssh: { publicKeys: [{ path: `/home/${user}/.ssh/authorized_keys`, keyData: spec.sshPublicKey }] },
        },
      },
      priority: isSpot ? 'Spot' : 'Regular',
      ...(isSpot && { evictionPolicy: 'Delete', billingProfile: { maxPrice } }),
    },
  };
}

export function interfaceBody(
  location: string,
  spec: AzureNodeClassSpec,
  tags: Readonly<Record<string, string>>,
): object {
  const ipConfiguration = {
    name: 'primary',
    properties: { primary: true, privateIPAllocationMethod: 'Dynamic', subnet: { id: spec.vnetSubnetID } },
  };
  return { location, tags, properties: { enableIPForwarding: false, ipConfigurations: [ipConfiguration] } };
}
