/** IBMNodeClasses, good and bad: what people have in their repositories applies, and what IBM Cloud would refuse is refused. */
import type { Manifest, RefusedManifest } from './manifests.ts';

type Json = Record<string, unknown>;

const GROUP = 'r006-12345678-1234-5678-9abc-def012345678';

const LEAST: Json = {
  region: 'us-south',
  vpc: 'r006-a1b2c3d4-1234-5678-9abc-def012345678',
  image: 'ibm-ubuntu-24-04-minimal-amd64-1',
  securityGroups: [GROUP],
  resourceGroup: 'a1b2c3d4e5f60718293a4b5c6d7e8f90',
};

function nodeClass(changes: Json = {}, without: readonly string[] = []): Manifest {
  const spec = Object.fromEntries(Object.entries({ ...LEAST, ...changes }).filter(([key]) => !without.includes(key)));
  return { apiVersion: 'karpenter-ibm.sh/v1alpha1', kind: 'IBMNodeClass', metadata: { name: 'tried' }, spec };
}

const volumes = (...blockDeviceMappings: Json[]): Manifest => nodeClass({ blockDeviceMappings });
const kubelet = (settings: Json): Manifest => nodeClass({ kubelet: settings });
const refused = (what: string, manifest: Manifest, ...says: string[]): RefusedManifest => ({ what, manifest, says });

export const ACCEPTED_IBM_NODE_CLASSES: Readonly<Record<string, Manifest>> = {
  'the least IBMNodeClass': nodeClass(),
  'one with all that a VPC cluster needs': nodeClass({
    zone: 'us-south-1',
    subnet: '0717-197e06f4-b500-426c-bc0f-900b215f996c',
    instanceProfile: 'gx3-16x80x1l4',
    sshKeys: [GROUP],
    tags: { environment: 'production' },
    bootstrapMode: 'cloud-init',
    apiServerEndpoint: 'https://10.243.65.4:6443',
    userDataAppend: '#!/bin/bash\necho done\n',
    kubelet: {
      maxPods: 110,
      evictionSoft: { 'memory.available': '5%' },
      evictionSoftGracePeriod: { 'memory.available': '1m' },
    },
    blockDeviceMappings: [
      {
        rootVolume: true,
        volumeSpec: { capacity: 200, profile: '10iops-tier', deleteOnTermination: true, tags: ['a'] },
      },
      { deviceName: 'data', volumeSpec: { capacity: 1000, profile: 'custom', iops: 6000 } },
    ],
  }),
  'a Flex profile, which upstream refuses though it does spot': nodeClass({ instanceProfile: 'bxf-4x16' }),
  'an image by what it is, and placement over zones': nodeClass(
    {
      imageSelector: { os: 'ubuntu', majorVersion: '24', minorVersion: '04', variant: 'minimal' },
      instanceRequirements: { architecture: 'amd64', minimumCPU: 4, minimumMemory: 16, maximumHourlyPrice: '1.00' },
      placementStrategy: {
        zoneBalance: 'CostOptimized',
        subnetSelection: { minimumAvailableIPs: 20, requiredTags: { team: 'a' } },
      },
    },
    ['image'],
  ),
  'members of a load balancer': nodeClass({
    loadBalancerIntegration: {
      enabled: true,
      targetGroups: [
        { loadBalancerID: GROUP, poolName: 'web', port: 30_080, healthCheck: { path: '/z', protocol: 'http' } },
      ],
    },
  }),
  'IKS with pools of its own': nodeClass({
    bootstrapMode: 'iks-api',
    iksClusterID: 'bng6n48d0t6vj7b33kag',
    iksDynamicPools: { enabled: true },
  }),
  'a reservation by name': nodeClass({ reservationAffinity: { policy: 'manual', pool: ['0717-1'] } }),
  'empty texts, as charts write them': nodeClass({ zone: '', subnet: '', placementTarget: '' }),
};

export const REFUSED_IBM_NODE_CLASSES: readonly RefusedManifest[] = [
  refused('neither image nor imageSelector', nodeClass({}, ['image']), 'exactly one of them'),
  refused(
    'both image and imageSelector',
    nodeClass({ imageSelector: { os: 'ubuntu', majorVersion: '24' } }),
    'exactly one of them',
  ),
  refused(
    'a profile and requirements',
    nodeClass({ instanceProfile: 'bxf-4x16', instanceRequirements: {} }),
    'exclude each other',
  ),
  refused('IKS without its cluster', nodeClass({ bootstrapMode: 'iks-api' }), 'iksClusterID'),
  refused('a zone of another region', nodeClass({ zone: 'us-east-1' }), 'zone must be one of region'),
  refused('a name where the ID of the VPC belongs', nodeClass({ vpc: 'my-vpc' }), 'vpc is an ID such as'),
  refused('a name where the ID of the subnet belongs', nodeClass({ subnet: 'my-subnet' }), 'subnet is an ID such as'),
  refused(
    'volumes without a boot volume',
    volumes({ volumeSpec: { capacity: 100 } }),
    'exactly one of blockDeviceMappings',
  ),
  refused('a boot volume of 500 GB', volumes({ rootVolume: true, volumeSpec: { capacity: 500 } }), '10 to 250 GB'),
  refused(
    'an unknown profile of a volume',
    volumes({ rootVolume: true, volumeSpec: { profile: 'fast' } }),
    'general-purpose',
  ),
  refused(
    'negative reservations of the kubelet',
    kubelet({ kubeReserved: { cpu: '-1' } }),
    'kubeReserved cannot be negative',
  ),
  refused(
    'a soft threshold without a time',
    kubelet({ evictionSoft: { 'memory.available': '5%' } }),
    'needs a time in evictionSoftGracePeriod',
  ),
  refused(
    'a reservation on a dedicated host',
    nodeClass({ placementTarget: '0717-host', reservationAffinity: { policy: 'automatic' } }),
    'a machine with placementTarget uses no reservation',
  ),
  refused(
    'a price that is not one',
    nodeClass({ instanceRequirements: { maximumHourlyPrice: 'cheap' } }),
    'maximumHourlyPrice is a decimal',
  ),
];
