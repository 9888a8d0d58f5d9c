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

/** What kind of operating system an image has, and so how its nodes are told to join. */
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
    deleteOnTermination: boolean('Whether the volume goes with its instance.'),
    encrypted: boolean('Whether the volume is encrypted.'),
    iops: integer('Operations a second.', { format: 'int64' }),
    kmsKeyID: text('The key the volume is encrypted with.'),
    snapshotID: text('The snapshot the volume is made from.'),
    throughput: integer('MiB a second, for gp3.', { format: 'int64' }),
    volumeInitializationRate: seconds('MiB a second at which the snapshot is read.', 100, 300),
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
  'The volumes of an instance; those of the image family when it is not given.',
  object('One volume.', {
    deviceName: text('What the instance calls it, as in /dev/xvda.'),
    ebs,
    rootVolume: boolean('Whether kubelet keeps its data here, where the image does not say it.'),
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
  'The network interfaces of an instance; one when it is not given.',
  object('One network interface.', {
    networkCardIndex: required(index('The network card it is on.')),
    deviceIndex: required(index('Its place on the card.')),
    interfaceType: required(
      choice('Whether it has addresses, or only moves memory between instances.', ['interface', 'efa-only']),
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

const metadataOptions = object('How the metadata service of an instance can be asked.', {
  httpEndpoint: defaulted(METADATA_DEFAULTS.httpEndpoint, on('Whether there is one.')),
  httpProtocolIPv6: defaulted(METADATA_DEFAULTS.httpProtocolIPv6, on('Whether it can be asked by IPv6.')),
  httpPutResponseHopLimit: defaulted(
    METADATA_DEFAULTS.httpPutResponseHopLimit,
    integer('How many hops an answer may go: pods without the host network need 2.', {
      format: 'int64',
      minimum: 1,
      maximum: 64,
    }),
  ),
  httpTokens: defaulted(
    METADATA_DEFAULTS.httpTokens,
    choice('Whether each question needs a token (IMDSv2).', ['required', 'optional']),
  ),
});

const RESTRICTED_TAGS: readonly (readonly [rule: string, tag: string])[] = [
  ["self.all(k, k !='eks:eks-cluster-name')", 'eks:eks-cluster-name'],
  ["self.all(k, !k.startsWith('kubernetes.io/cluster') )", 'kubernetes.io/cluster/<name>'],
  ["self.all(k, k != 'karpenter.sh/nodepool')", 'karpenter.sh/nodepool'],
  ["self.all(k, k !='karpenter.sh/nodeclaim')", 'karpenter.sh/nodeclaim'],
  ["self.all(k, k !='karpenter.k8s.aws/ec2nodeclass')", 'karpenter.k8s.aws/ec2nodeclass'],
];

/** The family that an alias names is the only one that can stand beside it, but for Custom. */
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
  associatePublicIPAddress: boolean(
    'Whether instances have public addresses; as the subnet says when it is not given.',
  ),
  ipPrefixCount: index('How many prefixes of addresses the primary interface is given.'),
  amiSelectorTerms: required(AMI_TERMS),
  amiFamily: choice(
    'How the image expects to be told to join; the family of the alias when it is not given.',
    AMI_FAMILIES,
  ),
  userData: text(
    'What an instance runs or reads when it starts, besides what makes it join; its form depends on the family.',
  ),
  role: text('The role of instances; Spindrift makes an instance profile for it.', {
    rules: [{ rule: "self != ''", message: 'role cannot be empty: name an IAM role, or use instanceProfile' }],
  }),
  instanceProfile: text('The instance profile of instances, where that was made by someone else.', {
    rules: [{ rule: "self != ''", message: 'instanceProfile cannot be empty: name an instance profile, or use role' }],
  }),
  tags: map('Tags of all that is made for instances.', text('The value of the tag.'), {
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
  instanceStorePolicy: choice('RAID0 joins the local disks of an instance to one, for kubelet and containers.', [
    'RAID0',
  ]),
  networkInterfaces,
  detailedMonitoring: boolean('Whether CloudWatch is told more often.'),
  metadataOptions: defaulted(METADATA_DEFAULTS, metadataOptions),
  connectionTracking: object(
    'How long idle connections are tracked, in seconds; Nitro instances only.',
    {
      tcpEstablishedTimeout: seconds('Of established TCP connections.', 60, 432_000),
      udpStreamTimeout: seconds('Of UDP streams.', 60, 180),
      udpTimeout: seconds('Of other UDP flows.', 30, 60),
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
  context: text('A context that AWS asks for in some accounts.'),
  cpuOptions: object('Settings of the processor.', {
    nestedVirtualization: on('Whether virtual machines can run in an instance.'),
  }),
};

export const EC2_NODE_CLASS_SPEC = object('What instances are made from.', EC2_NODE_CLASS_SPEC_FIELDS, {
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
  instanceMatchCriteria: required(choice('Which instances it takes.', ['open', 'targeted'])),
  ownerID: required(text('The account that owns it.', { pattern: '^[0-9]{12}$' })),
  reservationType: defaulted('default', choice('What kind of reservation it is.', ['default', 'capacity-block'])),
  interruptible: boolean('Whether its owner may take it back.'),
  state: defaulted('active', choice('Whether it can still be used.', ['active', 'expiring'])),
  endTime: time('When it ends.'),
  availableInstanceCount: integer('How many instances could be launched into it when AWS was last asked.'),
  totalInstanceCount: integer('How many instances are reserved.'),
});

const amiRequirement = object('A condition on the labels of an instance type.', {
  key: required(text('The label.')),
  operator: required(text('How it compares.')),
  values: list('What it is compared with.', text('A value.')),
});

export const EC2_NODE_CLASS_STATUS = object('What the selectors found.', {
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
  capacityReservations: list('The capacity reservations, at most 500; the others are used as well.', reservation),
  amis: list(
    'The images.',
    object('An image.', {
      id: required(text('Its ID.')),
      name: text('Its name.'),
      deprecated: boolean('Whether its owner says not to use it any more.'),
      requirements: required(list('Which instance types it is for.', amiRequirement)),
    }),
  ),
  instanceProfile: text('The instance profile of instances.'),
  conditions: conditions('reason required'),
});
