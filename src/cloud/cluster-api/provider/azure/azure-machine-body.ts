/** The VM and the interface of an AzureMachine: group, region and subnet from the AzureCluster, spot fields as the machine has them. Pure. */
import { parseQuantity } from '../../../../apis/kubernetes/quantity.ts';
import { SpindriftError } from '../../../../platform/errors.ts';
import { listAt, objectAt, type RawSpec, textAt } from '../../infrastructure/machine-settings.ts';
import type { InstanceOrder } from '../instance-cloud.ts';

/** On VMs and interfaces: the UID of the infrastructure machine. `/` is not allowed in the keys of tags. */
export const TAG_MACHINE_UID = 'spindrift.dev_machine-uid';

/** Where the VMs of an AzureCluster are. */
export interface AzurePlace {
  readonly subscription: string;
  readonly resourceGroup: string;
  readonly location: string;
}

export function azurePlace({ spec = {} }: { readonly spec?: RawSpec }): AzurePlace {
  return {
    subscription: textAt(spec, 'subscriptionID') ?? '',
    resourceGroup: textAt(spec, 'resourceGroup') ?? '',
    location: textAt(spec, 'location') ?? '',
  };
}

/** What keeps VMs from being created for an AzureCluster. */
export function missingInAzureCluster(spec: RawSpec): string | undefined {
  for (const field of ['subscriptionID', 'resourceGroup', 'location'])
    if (textAt(spec, field) === undefined) return `spec.${field} is empty: say where the VMs are`;
  const network = objectAt(spec, 'networkSpec') ?? {};
  if (textAt(objectAt(network, 'vnet') ?? {}, 'name') === undefined) return 'spec.networkSpec.vnet.name is empty';
  return nodeSubnet(spec, undefined) === undefined
    ? 'spec.networkSpec.subnets has none with the role node: name the subnet of the nodes'
    : undefined;
}

export function azureInterfaceBody(order: InstanceOrder): object {
  const { cluster, spec, machine } = order;
  const place = azurePlace(cluster);
  const network = objectAt(cluster.spec ?? {}, 'networkSpec') ?? {};
  const vnet = objectAt(network, 'vnet') ?? {};
  const [first] = listAt(spec, 'networkInterfaces');
  const wanted = (first && textAt(first, 'subnetName')) ?? textAt(spec, 'subnetName');
  const subnet = nodeSubnet(cluster.spec ?? {}, wanted);
  if (subnet === undefined) {
    const problem = `AzureCluster ${cluster.metadata.name} has no subnet ${wanted ?? 'with the role node'} for ${machine}`;
    throw new SpindriftError('CLOUD_REFUSED', { operation: 'creating an interface', problem });
  }
  const group = textAt(vnet, 'resourceGroup') ?? place.resourceGroup;
  const id = `/subscriptions/${place.subscription}/resourceGroups/${group}/providers/Microsoft.Network/virtualNetworks/${textAt(vnet, 'name')}/subnets/${subnet}`;
  const ipConfiguration = {
    name: 'primary',
    properties: { primary: true, privateIPAllocationMethod: 'Dynamic', subnet: { id } },
  };
  return {
    location: place.location,
    tags: tagsOf(order),
    properties: {
      enableIPForwarding: spec.enableIPForwarding === true,
      ...(typeof first?.acceleratedNetworking === 'boolean' && {
        enableAcceleratedNetworking: first.acceleratedNetworking,
      }),
      ipConfigurations: [ipConfiguration],
    },
  };
}

export function azureVmBody(order: InstanceOrder, name: string, interfaceID: string): object {
  const { spec, settings, zone, userData } = order;
  const disk = objectAt(spec, 'osDisk') ?? {};
  const storage = textAt(objectAt(disk, 'managedDisk') ?? {}, 'storageAccountType');
  const isEphemeral = objectAt(disk, 'diffDiskSettings')?.option === 'Local';
  const key = textAt(spec, 'sshPublicKey');
  if (key === undefined) {
    const problem = `AzureMachine ${order.machine} has no key: set spec.sshPublicKey, in base64, as Azure asks for one`;
    throw new SpindriftError('CLOUD_REFUSED', { operation: 'creating a VM', problem });
  }
  const user = 'capi';
  return {
    location: azurePlace(order.cluster).location,
    ...(zone !== undefined && /^\d$/.test(zone) && { zones: [zone] }),
    tags: tagsOf(order),
    properties: {
      hardwareProfile: { vmSize: settings.instanceType },
      storageProfile: {
        imageReference: imageOf(order),
        osDisk: {
          name: `${name}-disk`,
          osType: textAt(disk, 'osType') ?? 'Linux',
          createOption: 'FromImage',
          // CAPZ deletes disks and interfaces itself; with this they are deleted with the VM in any case.
          deleteOption: 'Delete',
          ...(isEphemeral ? { caching: 'ReadOnly', diffDiskSettings: { option: 'Local' } } : {}),
          ...(typeof disk.diskSizeGB === 'number' && { diskSizeGB: disk.diskSizeGB }),
          ...(storage !== undefined && { managedDisk: { storageAccountType: storage } }),
        },
      },
      networkProfile: {
        networkInterfaces: [{ id: interfaceID, properties: { primary: true, deleteOption: 'Delete' } }],
      },
      osProfile: {
        computerName: name.slice(0, 63),
        adminUsername: user,
        customData: userData.toString('base64'),
        linuxConfiguration: {
          disablePasswordAuthentication: true,
          ssh: {
            publicKeys: [
              { path: `/home/${user}/.ssh/authorized_keys`, keyData: Buffer.from(key, 'base64').toString('utf8') },
            ],
          },
        },
      },
      ...spotOf(order),
    },
  };
}

/** Presence of the options means spot. Without a price the VM is never evicted for it: -1, up to the on-demand price. */
function spotOf({ spec, settings }: InstanceOrder): object {
  if (settings.spot === undefined) return { priority: 'Regular' };
  const policy = textAt(objectAt(spec, 'spotVMOptions') ?? {}, 'evictionPolicy');
  return {
    priority: 'Spot',
    evictionPolicy: policy ?? (settings.spot.staysWhenEvicted ? 'Deallocate' : 'Delete'),
    billingProfile: { maxPrice: priceOf(settings.spot.maxPrice) },
  };
}

/** A quantity, as floats are not allowed in Kubernetes APIs: `0.04` and `40m` are the same. */
function priceOf(text: string | undefined): number {
  return text === undefined ? -1 : Number(parseQuantity(text).nanos) / 1e9;
}

function imageOf({ spec, machine }: InstanceOrder): object {
  const image = objectAt(spec, 'image') ?? {};
  const id = textAt(image, 'id');
  if (id !== undefined) return { id };
  const market = objectAt(image, 'marketplace');
  if (market !== undefined)
    return {
      publisher: textAt(market, 'publisher'),
      offer: textAt(market, 'offer'),
      sku: textAt(market, 'sku'),
      version: textAt(market, 'version') ?? 'latest',
    };
  const gallery = objectAt(image, 'computeGallery');
  if (gallery !== undefined) {
    const [name, of, version] = ['name', 'gallery', 'version'].map((field) => textAt(gallery, field) ?? '');
    const subscription = textAt(gallery, 'subscriptionID');
    return subscription === undefined
      ? { communityGalleryImageId: `/CommunityGalleries/${of}/Images/${name}/Versions/${version}` }
      : {
          id: `/subscriptions/${subscription}/resourceGroups/${textAt(gallery, 'resourceGroup')}/providers/Microsoft.Compute/galleries/${of}/images/${name}/versions/${version}`,
        };
  }
  const problem = `AzureMachine ${machine} names no image: set spec.image.id, marketplace or computeGallery`;
  throw new SpindriftError('CLOUD_REFUSED', { operation: 'creating a VM', problem });
}

function nodeSubnet(spec: RawSpec, wanted: string | undefined): string | undefined {
  const subnets = listAt(objectAt(spec, 'networkSpec') ?? {}, 'subnets');
  const found = subnets.find((subnet) =>
    wanted === undefined ? textAt(subnet, 'role') === 'node' : textAt(subnet, 'name') === wanted,
  );
  return found && textAt(found, 'name');
}

function tagsOf({ spec, cluster, clusterName, uid, role }: InstanceOrder): Readonly<Record<string, string>> {
  return {
    ...(objectAt(cluster.spec ?? {}, 'additionalTags') as Record<string, string> | undefined),
    ...(objectAt(spec, 'additionalTags') as Record<string, string> | undefined),
    [`sigs.k8s.io_cluster-api-provider-azure_cluster_${clusterName}`]: 'owned',
    'sigs.k8s.io_cluster-api-provider-azure_role': role,
    [TAG_MACHINE_UID]: uid,
  };
}
