/** The schema of EC2NodeClass, karpenter.k8s.aws/v1: it accepts and refuses what Karpenter's own definition does. */
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
import { KUBELET } from './kubelet-schema.ts';
import {
  AMI_TERMS,
  PLACEMENT_GROUP_SELECTOR,
  RESERVATION_TERMS,
  SECURITY_GROUP_TERMS,
  SUBNET_TERMS,
} from './selector-schemas.ts';

/** The operating system of an image, which decides how its nodes join the cluster. */
export const AMI_FAMILIES = [
  'AL2',
  'AL2023',
  'Bottlerocket',
  'Custom',
  'Windows2019',
  'Windows2022',
  'Windows2025',
] as const;
export type AmiFamily = (typeof AMI_FAMILIES)[number];

const VOLUME_SIZE =
  '^((?:[1-9][0-9]{0,3}|[1-4][0-9]{4}|[5][0-8][0-9]{3}|59000)Gi|(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|[6][0-3][0-9]{3}|64000)G|([1-9]||[1-5][0-7]|58)Ti|([1-9]||[1-5][0-9]|6[0-3]|64)T)$';

const on = (description: string): Schema<'enabled' | 'disabled'> => choice(description, ['enabled', 'disabled']);
const seconds = (description: string, minimum: number, maximum: number): Schema<number> =>
  integer(description, { format: 'int32', minimum, maximum });

const ebs = object(
  'A volume of Elastic Block Store.',
  {
    deleteOnTermination: boolean('Whether the volume is deleted with its instance.'),
    encrypted: boolean('Whether the volume is encrypted.'),
    iops: integer('I/O operations per second.', { format: 'int64' }),
    kmsKeyID: text('The key the volume is encrypted with.'),
    snapshotID: text('The snapshot the volume is made from.'),
    throughput: integer('MiB per second, for gp3.', { format: 'int64' }),
    volumeInitializationRate: seconds('MiB per second at which the snapshot is read.', 100, 300),
    volumeSize: text('The size, in Gi, G, Ti or T.', { pattern: VOLUME_SIZE }),
    volumeType: choice('The type of the volume.', ['standard', 'io1', 'io2', 'gp2', 'sc1', 'st1', 'gp3']),
  },
  {
    rules: [
      {
        rule: 'has(self.snapshotID) || has(self.volumeSize)',
        message: 'a volume needs a size or a snapshot: write volumeSize, as in 100Gi, or snapshotID',
      },
      {
        rule: "!has(self.volumeInitializationRate) || (has(self.snapshotID) && self.snapshotID != '')",
        message: 'volumeInitializationRate is the speed at which a snapshot is read: write snapshotID, or remove it',
      },
    ],
  },
);

const blockDeviceMappings = list(
  'The volumes of an instance; defaults to those of the image family.',
  object('One volume.', {
    deviceName: text('The device name in the instance, as in /dev/xvda.'),
    ebs,
    rootVolume: boolean('Whether the kubelet keeps its data on this volume; for images that do not define it.'),
  }),
  {
    maxItems: 50,
    rules: [
      {
        rule: 'self.filter(x, has(x.rootVolume)?x.rootVolume==true:false).size() <= 1',
        message: 'only one volume can be the rootVolume',
      },
    ],
  },
);

const index = (description: string): Schema<number> => integer(description, { format: 'int32', minimum: 0 });

const networkInterfaces = list(
  'The network interfaces of an instance; defaults to one.',
  object('One network interface.', {
    networkCardIndex: required(index('The index of its network card.')),
    deviceIndex: required(index('Its device index on the card.')),
    interfaceType: required(
      choice('interface has IP addresses; efa-only carries only traffic of the Elastic Fabric Adapter.', [
        'interface',
        'efa-only',
      ]),
    ),
  }),
  {
    maxItems: 150,
    rules: [
      {
        rule: "self.size() == 0 || self.exists(x, x.deviceIndex == 0 && x.networkCardIndex == 0 && x.interfaceType == 'interface')",
        message:
          'one network interface must be the primary one: networkCardIndex 0, deviceIndex 0, interfaceType interface',
      },
      {
        rule: "self.all(x, self.filter(y, x.networkCardIndex == y.networkCardIndex && x.deviceIndex == y.deviceIndex).size() == 1 && (x.interfaceType != 'efa-only' || self.filter(y, x.networkCardIndex == y.networkCardIndex && y.interfaceType == 'efa-only').size() == 1))",
        message:
          'each pair of networkCardIndex and deviceIndex can be there once, and one efa-only interface on each card',
      },
    ],
  },
);

const METADATA_DEFAULTS = {
  httpEndpoint: 'enabled',
  httpProtocolIPv6: 'disabled',
  httpPutResponseHopLimit: 1,
  httpTokens: 'required',
} as const;

const metadataOptions = object('The metadata service of an instance.', {
  httpEndpoint: defaulted(METADATA_DEFAULTS.httpEndpoint, on('Whether the metadata service is enabled.')),
  httpProtocolIPv6: defaulted(METADATA_DEFAULTS.httpProtocolIPv6, on('Whether it is reachable over IPv6.')),
  httpPutResponseHopLimit: defaulted(
    METADATA_DEFAULTS.httpPutResponseHopLimit,
    integer('The hop limit of its answers; pods without the host network need 2.', {
      format: 'int64',
      minimum: 1,
      maximum: 64,
    }),
  ),
  httpTokens: defaulted(
    METADATA_DEFAULTS.httpTokens,
    choice('Whether each request needs a token (IMDSv2).', ['required', 'optional']),
  ),
});

const RESTRICTED_TAGS: readonly (readonly [rule: string, tag: string])[] = [
  ["self.all(k, k !='eks:eks-cluster-name')", 'eks:eks-cluster-name'],
  ["self.all(k, !k.startsWith('kubernetes.io/cluster') )", 'kubernetes.io/cluster/<name>'],
  ["self.all(k, k != 'karpenter.sh/nodepool')", 'karpenter.sh/nodepool'],
  ["self.all(k, k !='karpenter.sh/nodeclaim')", 'karpenter.sh/nodeclaim'],
  ["self.all(k, k !='karpenter.k8s.aws/ec2nodeclass')", 'karpenter.k8s.aws/ec2nodeclass'],
];

/** With an alias, amiFamily must be the family of the alias, or Custom. */
const familyRules = AMI_FAMILIES.filter((family) => family !== 'Custom').map((family): Rule => {
  const name = family.toLowerCase();
  return {
    rule: `!has(self.amiFamily) || (self.amiSelectorTerms.exists(x, has(x.alias) && x.alias.find('^[^@]+') == '${name}') ? (self.amiFamily == 'Custom' || self.amiFamily == '${family}') : true)`,
    message: `with an alias of ${name}, amiFamily is ${family} or Custom: correct it or remove it`,
  };
});

const EC2_NODE_CLASS_SPEC_FIELDS = {
  subnetSelectorTerms: required(SUBNET_TERMS),
  securityGroupSelectorTerms: required(SECURITY_GROUP_TERMS),
  capacityReservationSelectorTerms: RESERVATION_TERMS,
  placementGroupSelector: PLACEMENT_GROUP_SELECTOR,
  associatePublicIPAddress: boolean('Whether instances have public addresses; defaults to the setting of the subnet.'),
  ipPrefixCount: index('The number of IP prefixes of the primary interface.'),
  amiSelectorTerms: required(AMI_TERMS),
  amiFamily: choice(
    'The family of the image, which decides how nodes join; defaults to the family of the alias.',
    AMI_FAMILIES,
  ),
  userData: text('User data of instances, merged with the part that joins the node; its format depends on the family.'),
  role: text('The IAM role of instances; Spindrift creates an instance profile for it.', {
    rules: [{ rule: "self != ''", message: 'role cannot be empty: name an IAM role, or use instanceProfile' }],
  }),
  instanceProfile: text('An existing instance profile for instances, instead of role.', {
    rules: [{ rule: "self != ''", message: 'instanceProfile cannot be empty: name an instance profile, or use role' }],
  }),
  tags: map('Tags of instances, volumes, network interfaces and launch templates.', text('The value of the tag.'), {
    rules: [
      { rule: "self.all(k, k != '')", message: 'a tag needs a key' },
      ...RESTRICTED_TAGS.map(([rule, tag]) => ({
        rule,
        message: `the tag ${tag} is set by the autoscaler: remove it`,
      })),
    ],
  }),
  kubelet: KUBELET,
  blockDeviceMappings,
  instanceStorePolicy: choice('RAID0 combines the local disks of an instance, for the kubelet and containers.', [
    'RAID0',
  ]),
  networkInterfaces,
  detailedMonitoring: boolean('Whether CloudWatch gets metrics every minute.'),
  metadataOptions: defaulted(METADATA_DEFAULTS, metadataOptions),
  connectionTracking: object(
    'Timeouts of idle tracked connections, in seconds; for Nitro instances.',
    {
      tcpEstablishedTimeout: seconds('The timeout of established TCP connections.', 60, 432_000),
      udpStreamTimeout: seconds('The timeout of UDP streams.', 60, 180),
      udpTimeout: seconds('The timeout of other UDP flows.', 30, 60),
    },
    {
      rules: [
        {
          rule: 'has(self.tcpEstablishedTimeout) || has(self.udpStreamTimeout) || has(self.udpTimeout)',
          message: 'connectionTracking needs one of tcpEstablishedTimeout, udpStreamTimeout, udpTimeout',
        },
      ],
    },
  ),
  context: text('The context of EC2 Fleet requests, which AWS requires in some accounts.'),
  cpuOptions: object('Settings of the processor.', {
    nestedVirtualization: on('Whether instances can run virtual machines.'),
  }),
};

export const EC2_NODE_CLASS_SPEC = object('How instances are launched.', EC2_NODE_CLASS_SPEC_FIELDS, {
  rules: [
    {
      rule: '(has(self.role) && !has(self.instanceProfile)) || (!has(self.role) && has(self.instanceProfile))',
      message: 'instances need one of role and instanceProfile, and not both',
    },
    ...familyRules,
    {
      rule: 'self.amiSelectorTerms.exists(x, has(x.alias)) ? true : has(self.amiFamily)',
      message: 'without an alias, amiFamily must say how instances join, as in amiFamily: AL2023',
    },
  ],
});

const reservation = object('A capacity reservation that a term selects.', {
  id: required(text('Its ID.', { pattern: '^cr-[0-9a-z]+$' })),
  availabilityZone: required(text('Its zone.')),
  instanceType: required(text('Its instance type.')),
  instanceMatchCriteria: required(
    choice('open: any matching instance uses it. targeted: only instances that name it.', ['open', 'targeted']),
  ),
  ownerID: required(text('The account that owns it.', { pattern: '^[0-9]{12}$' })),
  reservationType: defaulted('default', choice('The type of the reservation.', ['default', 'capacity-block'])),
  interruptible: boolean('Whether its owner can interrupt its instances.'),
  state: defaulted('active', choice('Whether it can still be used.', ['active', 'expiring'])),
  endTime: time('When it ends.'),
  availableInstanceCount: integer('Free instances of the reservation, as of the last query.'),
  totalInstanceCount: integer('The number of reserved instances.'),
});

const amiRequirement = object('A condition on the labels of an instance type.', {
  key: required(text('The label.')),
  operator: required(text('The operator.')),
  values: list('The values to compare with.', text('A value.')),
});

export const EC2_NODE_CLASS_STATUS = object('The resources that the selectors found.', {
  subnets: list(
    'The subnets.',
    object('A subnet.', {
      id: required(text('Its ID.')),
      zone: required(text('Its zone.')),
      zoneID: text('The ID of the zone.'),
    }),
  ),
  securityGroups: list(
    'The security groups.',
    object('A security group.', { id: required(text('Its ID.')), name: text('Its name.') }),
  ),
  capacityReservations: list('The first 500 capacity reservations; more are used but not listed.', reservation),
  amis: list(
    'The images.',
    object('An image.', {
      id: required(text('Its ID.')),
      name: text('Its name.'),
      deprecated: boolean('Whether its owner has deprecated it.'),
      requirements: required(list('The instance types that can run it.', amiRequirement)),
    }),
  ),
  instanceProfile: text('The instance profile of instances.'),
  conditions: conditions('reason required'),
});
