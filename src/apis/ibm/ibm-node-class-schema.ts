/** The schema of IBMNodeClass, karpenter-ibm.sh/v1alpha1: it accepts the manifests of karpenter-provider-ibm-cloud. */
import { conditions } from '../karpenter/condition-schema.ts';
import type { Rule } from '../schema/json-schema.ts';
import {
  boolean,
  choice,
  defaulted,
  integer,
  list,
  map,
  object,
  required,
  type Schema,
  text,
  time,
} from '../schema/schema.ts';
import { IBM_KUBELET } from './kubelet-schema.ts';

const UUID = '[a-zA-Z0-9]{8}-[a-zA-Z0-9]{4}-[a-zA-Z0-9]{4}-[a-zA-Z0-9]{4}-[a-zA-Z0-9]{12}';
const REGIONAL_ID = `^r[0-9]+-${UUID}$`;
const SUBNET_ID = `^[a-zA-Z0-9]{4}-${UUID}$`;
const ARCHITECTURES = ['amd64', 'arm64', 's390x'] as const;

const regionalId = (description: string, field: string): Schema<string> =>
  text(description, {
    minLength: 1,
    maxLength: 64,
    pattern: REGIONAL_ID,
    patternMessage: `${field} is an ID such as r006-12345678-1234-5678-9abc-def012345678`,
  });

const name = (description: string): Schema<string> => text(description, { maxLength: 253 });
const strings = (description: string): Schema<Readonly<Record<string, string>>> =>
  map(description, text('A value.', { maxLength: 253 }), { maxProperties: 50 });

const instanceRequirements = object('Which profiles can be launched; defaults to all that the NodePool allows.', {
  architecture: choice('The processor architecture.', ARCHITECTURES),
  minimumCPU: integer('The minimum number of vCPUs.', { format: 'int32', minimum: 1 }),
  minimumMemory: integer('The minimum memory in GiB.', { format: 'int32', minimum: 1 }),
  maximumHourlyPrice: text('The maximum price in USD per hour, as in "0.50".', {
    maxLength: 32,
    pattern: '^[0-9]+\\.?[0-9]*$',
    patternMessage: 'maximumHourlyPrice is a decimal number in quotes, as in "0.50"',
  }),
});

const imageSelector = object('Selects the image by its properties; the newest match is used.', {
  os: required(text('The operating system, as in ubuntu.', { minLength: 1, maxLength: 63, pattern: '^[a-z]+$' })),
  majorVersion: required(text('Its major version, as in "24".', { minLength: 1, maxLength: 10, pattern: '^[0-9]+$' })),
  minorVersion: text('Its minor version, as in "04"; defaults to the newest.', {
    maxLength: 10,
    pattern: '^[0-9]+$',
  }),
  architecture: defaulted('amd64', choice('The processor architecture.', ARCHITECTURES)),
  variant: text('The variant, as in minimal; defaults to any.', { maxLength: 63, pattern: '^[a-z]+$' }),
});

const placementStrategy = object('Chooses the subnets of machines, when neither zone nor subnet is set.', {
  zoneBalance: defaulted(
    'Balanced',
    choice(
      'Balanced: the best subnet of each zone. AvailabilityFirst: all subnets. CostOptimized: subnets of the two best zones.',
      ['Balanced', 'AvailabilityFirst', 'CostOptimized'],
    ),
  ),
  subnetSelection: object('Which subnets are eligible.', {
    minimumAvailableIPs: integer('The minimum number of free addresses.', { format: 'int32', minimum: 1 }),
    requiredTags: strings('Tags that a subnet must have in Global Tagging.'),
  }),
});

const healthCheck = object('How the load balancer checks a node.', {
  protocol: defaulted('tcp', choice('The protocol.', ['http', 'https', 'tcp'])),
  path: text('The path, for http and https.', { maxLength: 253, pattern: '^/.*$' }),
  interval: defaulted(30, integer('Seconds between checks.', { format: 'int32', minimum: 5, maximum: 300 })),
  timeout: defaulted(5, integer('The timeout of a check in seconds.', { format: 'int32', minimum: 1, maximum: 60 })),
  retryCount: defaulted(
    2,
    integer('The number of successful checks in a row.', { format: 'int32', minimum: 1, maximum: 10 }),
  ),
});

const targetGroup = object('A load balancer pool that nodes join.', {
  loadBalancerID: required(regionalId('The ID of the load balancer.', 'loadBalancerID')),
  poolName: required(
    text('The name of its pool.', { minLength: 1, maxLength: 63, pattern: '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$' }),
  ),
  port: required(integer('The port of the nodes.', { format: 'int32', minimum: 1, maximum: 65_535 })),
  weight: defaulted(50, integer('The weight of each node.', { format: 'int32', minimum: 0, maximum: 100 })),
  healthCheck,
});

const loadBalancerIntegration = object('Adds nodes to load balancer pools.', {
  enabled: defaulted(false, boolean('Whether nodes are added.')),
  targetGroups: list('The pools.', targetGroup, { maxItems: 10 }),
  autoDeregister: defaulted(true, boolean('Whether a node is removed from the pools before it is drained.')),
  registrationTimeout: defaulted(
    300,
    integer('Seconds until an event reports a node that is not healthy in a pool.', {
      format: 'int32',
      minimum: 30,
      maximum: 600,
    }),
  ),
});

const iksDynamicPools = object('Worker pools that are created on demand, in IKS mode.', {
  enabled: defaulted(false, boolean('Whether pools are created.')),
  namePrefix: defaulted('karp', text('The prefix of their names.', { maxLength: 20, pattern: '^[a-z][a-z0-9-]*$' })),
  labels: strings('Labels of the pools.'),
  diskEncryption: defaulted(true, boolean('Whether disks are encrypted.')),
  allowedInstanceTypes: list('The allowed flavors; defaults to all.', name('A flavor.')),
  cleanupPolicy: object('When empty pools are deleted.', {
    emptyPoolTTL: defaulted(
      '5m',
      text('How long a pool must be empty before it is deleted.', { maxLength: 64, pattern: '^([0-9]+(s|m|h))+$' }),
    ),
    deleteOnEmpty: defaulted(true, boolean('Whether empty pools are deleted.')),
  }),
});

const volumeSpec = object('The volume.', {
  capacity: integer('Gigabytes: 10 to 250 for the boot volume, 10 to 16000 for others.', {
    format: 'int64',
    minimum: 1,
    maximum: 16_000,
  }),
  profile: text('general-purpose, 5iops-tier, 10iops-tier, sdp or custom.', { maxLength: 63 }),
  iops: integer('Operations per second, for custom and sdp.', { format: 'int64', minimum: 100, maximum: 64_000 }),
  bandwidth: integer('Megabits per second.', { format: 'int64', minimum: 1, maximum: 16_000 }),
  encryptionKeyID: text('The CRN of the root key; defaults to provider-managed encryption.', {
    maxLength: 253,
  }),
  deleteOnTermination: defaulted(true, boolean('Whether the volume is deleted with its machine.')),
  tags: list('User tags of the volume.', name('A tag.'), { maxItems: 10 }),
});

const blockDevice = object('A volume of each machine.', {
  deviceName: name('The name of the attachment.'),
  rootVolume: boolean('Whether it is the boot volume.'),
  volumeSpec,
});

const reservationAffinity = object(
  'Whether machines use capacity reservations of the account. With any policy but disabled the class launches no spot machines.',
  {
    policy: required(choice('How machines use reservations.', ['disabled', 'automatic', 'manual'])),
    pool: list('The IDs of the reservations, for manual.', name('An ID.'), { maxItems: 10 }),
  },
  {
    rules: [
      {
        rule: "self.policy == 'manual' ? has(self.pool) && self.pool.size() > 0 : !has(self.pool) || self.pool.size() == 0",
        message:
          'reservationAffinity.pool names the reservations for policy manual, and is left out for every other policy',
      },
    ],
  },
);

const mappings = 'self.blockDeviceMappings';
const RULES: readonly Rule[] = [
  {
    rule: 'has(self.image) != has(self.imageSelector)',
    message: 'name the image to boot either as image (an ID or a name) or by imageSelector: exactly one of them',
  },
  {
    rule: '!(has(self.instanceProfile) && has(self.instanceRequirements))',
    message: 'instanceProfile and instanceRequirements exclude each other: keep one of them',
  },
  {
    rule: "!has(self.bootstrapMode) || self.bootstrapMode != 'iks-api' || has(self.iksClusterID)",
    message: 'bootstrapMode iks-api needs iksClusterID, the ID of the cluster',
  },
  {
    rule: "!has(self.zone) || self.zone == '' || self.zone.startsWith(self.region + '-')",
    message: 'zone must be one of region, as us-south-1 is of us-south',
  },
  {
    rule: `!has(self.subnet) || self.subnet == '' || self.subnet.matches('${SUBNET_ID}')`,
    message: 'subnet is an ID such as 0717-197e06f4-b500-426c-bc0f-900b215f996c',
  },
  {
    rule: `!has(${mappings}) || ${mappings}.size() == 0 || ${mappings}.exists_one(one, has(one.rootVolume) && one.rootVolume)`,
    message: 'exactly one of blockDeviceMappings is the boot volume: write rootVolume: true there',
  },
  {
    rule: `!has(${mappings}) || ${mappings}.all(one, !has(one.volumeSpec) || !has(one.volumeSpec.capacity) || (one.volumeSpec.capacity >= 10 && (!has(one.rootVolume) || !one.rootVolume || one.volumeSpec.capacity <= 250)))`,
    message: 'capacity is 10 to 250 GB for the boot volume and 10 to 16000 GB for others',
  },
  {
    rule: `!has(${mappings}) || ${mappings}.all(one, !has(one.volumeSpec) || !has(one.volumeSpec.profile) || one.volumeSpec.profile in ['', 'general-purpose', '5iops-tier', '10iops-tier', 'custom', 'sdp'])`,
    message: 'the profile of a volume is general-purpose, 5iops-tier, 10iops-tier, custom or sdp',
  },
  {
    rule: "!has(self.placementTarget) || self.placementTarget == '' || !has(self.reservationAffinity) || self.reservationAffinity.policy == 'disabled'",
    message:
      'a machine with placementTarget uses no reservation: write reservationAffinity.policy: disabled, or leave one of them out',
  },
];

export const IBM_NODE_CLASS_SPEC = object(
  'Where and how machines are launched in IBM Cloud VPC.',
  {
    region: required(
      text('The region, as in us-south.', {
        minLength: 1,
        maxLength: 32,
        pattern: '^[a-z]{2}-[a-z]+$',
        patternMessage: 'region is a name such as us-south or eu-de',
      }),
    ),
    zone: text('The zone; defaults to all zones of the region.', {
      maxLength: 40,
      pattern: '^([a-z]{2}-[a-z]+-[0-9]+)?$',
    }),
    instanceProfile: text('The only profile to launch.', {
      minLength: 1,
      maxLength: 63,
      pattern: '^[a-z][a-z0-9]*-[0-9]+x[0-9]+[a-z0-9x]*$',
      patternMessage: 'instanceProfile is a name such as bxf-4x16 or gx3-16x80x1l4',
    }),
    instanceRequirements,
    image: text('The ID or the name of the image to boot.', {
      minLength: 1,
      maxLength: 63,
      pattern: '^[a-z0-9-]+$',
      patternMessage: 'image consists of lower-case letters, digits and hyphens',
    }),
    imageSelector,
    vpc: required(regionalId('The ID of the VPC.', 'vpc')),
    subnet: text('The ID of the only subnet to use.', { maxLength: 64 }),
    placementStrategy,
    securityGroups: list(
      'The IDs of the security groups of machines; defaults to the default group of the VPC.',
      regionalId('An ID.', 'a security group'),
      { maxItems: 16 },
    ),
    userData: text('Replaces the generated user data; it must join the machine to the cluster.', { maxLength: 65_536 }),
    userDataAppend: text('A shell script that runs after the machine has joined.', { maxLength: 32_768 }),
    sshKeys: list('The IDs of SSH keys.', regionalId('An ID.', 'an SSH key'), { maxItems: 10 }),
    resourceGroup: text('The ID or name of the resource group; defaults to the one of the options.', {
      maxLength: 63,
    }),
    placementTarget: text(
      'The ID of a placement group, dedicated host or dedicated host group. Hosts take no spot machines.',
      {
        maxLength: 64,
      },
    ),
    reservationAffinity,
    tags: strings('Tags of the machines, in Global Tagging.'),
    bootstrapMode: defaulted('auto', choice('How machines join the cluster.', ['cloud-init', 'iks-api', 'auto'])),
    apiServerEndpoint: text(
      'The address of the API server for machines, if it differs from the one that the controller uses.',
      {
        maxLength: 253,
        pattern: '^https?://[a-zA-Z0-9.-]+:[0-9]+$',
        patternMessage: 'apiServerEndpoint is an address with a port, as in https://10.243.65.4:6443',
      },
    ),
    iksClusterID: text('The ID of the IKS cluster.', { maxLength: 63, pattern: '^[a-z0-9]+$' }),
    iksWorkerPoolID: name('The worker pool that machines join, in IKS mode.'),
    iksDynamicPools,
    loadBalancerIntegration,
    blockDeviceMappings: list('The volumes of each machine; defaults to a boot volume of 100 GB.', blockDevice, {
      maxItems: 10,
    }),
    kubelet: IBM_KUBELET,
  },
  { rules: RULES },
);

export const IBM_NODE_CLASS_STATUS = object('The resources found in IBM Cloud.', {
  lastValidationTime: time('When the class was last checked against IBM Cloud.'),
  validationError: text('The validation error; absent when there is none.'),
  selectedInstanceTypes: list('The profiles that fit instanceRequirements.', text('A profile.')),
  selectedSubnets: list('The subnets that machines are launched in.', text('An ID.')),
  eligibleSubnets: list('The eligible subnets.', text('An ID.')),
  resolvedSecurityGroups: list('The security groups of machines.', text('An ID.')),
  resolvedImageID: text('The image that machines boot.'),
  resolvedResourceGroup: text('The ID of the resource group.'),
  resolvedZones: list('The zone of each of the selected subnets.', text('A zone.')),
  resolvedArchitecture: text('The processor architecture of the image.'),
  placementTargetKind: text('The type of placementTarget: PlacementGroup, DedicatedHost or DedicatedHostGroup.'),
  conditions: conditions('reason required'),
});
