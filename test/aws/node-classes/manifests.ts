/**
 * Specs of EC2NodeClasses, good and bad, in our own words. What Karpenter's own CustomResourceDefinition makes of each is
 * in verdicts.json, written by judge.ts, so that ours can be held against it without Karpenter.
 */

type Json = Readonly<Record<string, unknown>>;

export interface TriedSpec {
  /** Completes "a class ...". */
  readonly what: string;
  readonly spec: Json;
}

const DISCOVERY = { 'karpenter.sh/discovery': 'mine' };
const LEAST = {
  amiSelectorTerms: [{ alias: 'al2023@latest' }],
  subnetSelectorTerms: [{ tags: DISCOVERY }],
  securityGroupSelectorTerms: [{ tags: DISCOVERY }],
  role: 'nodes',
};

/** The least there can be, with this on top; undefined takes a field away. */
function least(what: string, spec: Json = {}): TriedSpec {
  const whole = Object.entries({ ...LEAST, ...spec }).filter(([, value]) => value !== undefined);
  return { what, spec: Object.fromEntries(whole) };
}

function many<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

function disk(what: string, ebs: Json, more: Json = {}): TriedSpec {
  return least(what, { blockDeviceMappings: [{ deviceName: '/dev/xvda', ebs, ...more }] });
}

const interfaces = (...list: readonly (readonly [card: number, device: number, type: string])[]): Json => ({
  networkInterfaces: list.map(([networkCardIndex, deviceIndex, interfaceType]) => ({
    networkCardIndex,
    deviceIndex,
    interfaceType,
  })),
});

const SUBNETS: readonly TriedSpec[] = [
  least('with the least there can be'),
  least('without subnet terms', { subnetSelectorTerms: undefined }),
  least('with an empty list of subnet terms', { subnetSelectorTerms: [] }),
  least('with a subnet term that says nothing', { subnetSelectorTerms: [{}] }),
  least('with a subnet by id', { subnetSelectorTerms: [{ id: 'subnet-0a1b' }] }),
  least('with an id that is no subnet', { subnetSelectorTerms: [{ id: 'vpc-0a1b' }] }),
  least('with text around the id of a subnet', { subnetSelectorTerms: [{ id: 'my-subnet-0a1b!' }] }),
  least('whose only subnet term has id and tags', { subnetSelectorTerms: [{ id: 'subnet-1', tags: DISCOVERY }] }),
  least('of whose two subnet terms one has id and tags', {
    subnetSelectorTerms: [{ id: 'subnet-1', tags: DISCOVERY }, { tags: DISCOVERY }],
  }),
  least('with a tag of any value', { subnetSelectorTerms: [{ tags: { team: '*' } }] }),
  least('with an empty tag value in a subnet term', { subnetSelectorTerms: [{ tags: { team: '' } }] }),
  least('with an empty tag key in a subnet term', { subnetSelectorTerms: [{ tags: { '': 'blue' } }] }),
  least('with 30 subnet terms', { subnetSelectorTerms: many(30, (index) => ({ id: `subnet-${index}` })) }),
  least('with 31 subnet terms', { subnetSelectorTerms: many(31, (index) => ({ id: `subnet-${index}` })) }),
  least('with 21 tags in a subnet term', {
    subnetSelectorTerms: [{ tags: Object.fromEntries(many(21, (index) => [`tag-${index}`, 'x'])) }],
  }),
];

const GROUPS: readonly TriedSpec[] = [
  least('without security group terms', { securityGroupSelectorTerms: undefined }),
  least('with a security group by id', { securityGroupSelectorTerms: [{ id: 'sg-0a1b' }] }),
  least('with a security group by name', { securityGroupSelectorTerms: [{ name: 'nodes-*' }] }),
  least('whose only group term has name and tags', { securityGroupSelectorTerms: [{ name: 'n', tags: DISCOVERY }] }),
  least('whose only group term has id and name', { securityGroupSelectorTerms: [{ id: 'sg-1', name: 'n' }] }),
  least('of whose two group terms one has id and name', {
    securityGroupSelectorTerms: [{ id: 'sg-1', name: 'n' }, { id: 'sg-2' }],
  }),
  least('with a group id that is a subnet', { securityGroupSelectorTerms: [{ id: 'subnet-1' }] }),
];

const RESERVATIONS: readonly TriedSpec[] = [
  least('with a reservation by id', { capacityReservationSelectorTerms: [{ id: 'cr-0a1b' }] }),
  least('with text around the id of a reservation', { capacityReservationSelectorTerms: [{ id: 'x-cr-0a1b' }] }),
  least('with reservations by tags and owner', {
    capacityReservationSelectorTerms: [{ tags: { team: '*' }, ownerID: '123456789012' }],
  }),
  least('with reservations by owner alone', { capacityReservationSelectorTerms: [{ ownerID: '123456789012' }] }),
  least('with an owner of eleven digits', {
    capacityReservationSelectorTerms: [{ tags: { a: 'b' }, ownerID: '12345678901' }],
  }),
  least('with reservations by match criteria', {
    capacityReservationSelectorTerms: [{ instanceMatchCriteria: 'open' }],
  }),
  least('with unknown match criteria', { capacityReservationSelectorTerms: [{ instanceMatchCriteria: 'closed' }] }),
  least('whose only reservation term has id and owner', {
    capacityReservationSelectorTerms: [{ id: 'cr-1', ownerID: '123456789012' }],
  }),
  least('of whose two reservation terms one has id and tags', {
    capacityReservationSelectorTerms: [{ id: 'cr-1', tags: { a: 'b' } }, { id: 'cr-2' }],
  }),
  least('with an empty list of reservation terms', { capacityReservationSelectorTerms: [] }),
  least('with 31 reservation terms', {
    capacityReservationSelectorTerms: many(31, (index) => ({ id: `cr-${index}` })),
  }),
];

const IMAGES: readonly TriedSpec[] = [
  least('without image terms', { amiSelectorTerms: undefined }),
  least('with an empty list of image terms', { amiSelectorTerms: [] }),
  least('with an alias in capitals', { amiSelectorTerms: [{ alias: 'AL2023@latest' }] }),
  least('with an alias of an unknown family', { amiSelectorTerms: [{ alias: 'ubuntu@latest' }] }),
  least('with an alias without a version', { amiSelectorTerms: [{ alias: 'al2023' }] }),
  least('with an alias of 31 characters', { amiSelectorTerms: [{ alias: `al2023@v${'1'.repeat(23)}` }] }),
  least('with a pinned Bottlerocket', { amiSelectorTerms: [{ alias: 'bottlerocket@v1.50.0' }] }),
  least('with the latest Windows', { amiSelectorTerms: [{ alias: 'windows2022@latest' }] }),
  least('with a pinned Windows', { amiSelectorTerms: [{ alias: 'windows2022@v1' }] }),
  least('with an alias beside another term', { amiSelectorTerms: [{ alias: 'al2023@latest' }, { id: 'ami-1' }] }),
  least('with an alias and a name in one term', { amiSelectorTerms: [{ alias: 'al2023@latest', name: 'n' }] }),
  least('with an image by id but no family', { amiSelectorTerms: [{ id: 'ami-0a1b' }] }),
  least('with an image by id and a family', { amiSelectorTerms: [{ id: 'ami-0a1b' }], amiFamily: 'AL2023' }),
  least('with one of two image terms that has id and name', {
    amiSelectorTerms: [{ id: 'ami-1', name: 'n' }, { id: 'ami-2' }],
    amiFamily: 'AL2023',
  }),
  least('with images by name and owner', { amiSelectorTerms: [{ name: 'my-*', owner: 'self' }], amiFamily: 'Custom' }),
  least('with images by owner alone', { amiSelectorTerms: [{ owner: 'self' }], amiFamily: 'Custom' }),
  least('with an image by parameter', { amiSelectorTerms: [{ ssmParameter: '/my/image' }], amiFamily: 'AL2023' }),
  least('with a parameter and tags in one term', {
    amiSelectorTerms: [{ ssmParameter: '/my/image', tags: { a: 'b' } }],
    amiFamily: 'AL2023',
  }),
  least('with an alias and the family Custom', { amiFamily: 'Custom' }),
  least('with an alias and its own family', { amiFamily: 'AL2023' }),
  least('with an alias and another family', { amiFamily: 'Bottlerocket' }),
  least('with a family that there is not', { amiFamily: 'Ubuntu' }),
];

const IDENTITY: readonly TriedSpec[] = [
  least('without role and instance profile', { role: undefined }),
  least('with role and instance profile', { instanceProfile: 'p' }),
  least('with an instance profile', { role: undefined, instanceProfile: 'p' }),
  least('with an empty role', { role: '' }),
  least('with an empty instance profile', { role: undefined, instanceProfile: '' }),
  least('with tags', { tags: { team: 'blue', empty: '' } }),
  least('with an empty tag key', { tags: { '': 'x' } }),
  least('that tags the cluster name', { tags: { 'eks:eks-cluster-name': 'mine' } }),
  least('that tags ownership by a cluster', { tags: { 'kubernetes.io/cluster/mine': 'owned' } }),
  least('with a tag that begins like ownership', { tags: { 'kubernetes.io/clusters': 'x' } }),
  least('that tags its pool', { tags: { 'karpenter.sh/nodepool': 'x' } }),
  least('that tags its claim', { tags: { 'karpenter.sh/nodeclaim': 'x' } }),
  least('that tags its class', { tags: { 'karpenter.k8s.aws/ec2nodeclass': 'x' } }),
  least('with another tag of Karpenter', { tags: { 'karpenter.sh/discovery': 'x' } }),
];

const DISKS: readonly TriedSpec[] = [
  disk('with a disk by size', { volumeSize: '100Gi', volumeType: 'gp3', iops: 3000, throughput: 125, encrypted: true }),
  disk('with a disk by snapshot', { snapshotID: 'snap-1' }),
  disk('with a disk of neither size nor snapshot', { volumeType: 'gp3' }),
  disk('with a disk of 59000Gi', { volumeSize: '59000Gi' }),
  disk('with a disk of 59001Gi', { volumeSize: '59001Gi' }),
  disk('with a disk of 64T', { volumeSize: '64T' }),
  disk('with a disk of 65T', { volumeSize: '65T' }),
  disk('with a disk of 58Ti', { volumeSize: '58Ti' }),
  disk('with a disk of 100Mi', { volumeSize: '100Mi' }),
  disk('with a disk of 0Gi', { volumeSize: '0Gi' }),
  disk('with an unknown volume type', { volumeSize: '20Gi', volumeType: 'gp9' }),
  disk('that initialises a snapshot', { snapshotID: 'snap-1', volumeInitializationRate: 200 }),
  disk('that initialises what has no snapshot', { volumeSize: '20Gi', volumeInitializationRate: 200 }),
  disk('that initialises too fast', { snapshotID: 'snap-1', volumeInitializationRate: 301 }),
  least('with two root volumes', {
    blockDeviceMappings: [
      { deviceName: '/dev/xvda', rootVolume: true, ebs: { volumeSize: '20Gi' } },
      { deviceName: '/dev/xvdb', rootVolume: true, ebs: { volumeSize: '20Gi' } },
    ],
  }),
  least('with 51 disks', {
    blockDeviceMappings: many(51, (index) => ({ deviceName: `/dev/sd${index}`, ebs: { volumeSize: '1Gi' } })),
  }),
  least('that joins local disks', { instanceStorePolicy: 'RAID0' }),
  least('that joins local disks in an unknown way', { instanceStorePolicy: 'RAID5' }),
];

const NETWORK: readonly TriedSpec[] = [
  least('with one interface', interfaces([0, 0, 'interface'])),
  least('with a second interface for EFA', interfaces([0, 0, 'interface'], [0, 1, 'efa-only'], [1, 0, 'efa-only'])),
  least('with no interfaces in the list', { networkInterfaces: [] }),
  least('without a primary interface', interfaces([0, 1, 'interface'])),
  least('whose primary interface is for EFA', interfaces([0, 0, 'efa-only'])),
  least('with two interfaces in one place', interfaces([0, 0, 'interface'], [0, 0, 'efa-only'])),
  least('with two EFA interfaces on a card', interfaces([0, 0, 'interface'], [0, 1, 'efa-only'], [0, 2, 'efa-only'])),
  least('with an unknown interface type', interfaces([0, 0, 'trunk'])),
  least('with an interface that lacks its device', {
    networkInterfaces: [{ networkCardIndex: 0, interfaceType: 'interface' }],
  }),
  least('with public addresses and prefixes', { associatePublicIPAddress: true, ipPrefixCount: 1 }),
  least('with a negative count of prefixes', { ipPrefixCount: -1 }),
  least('with connection tracking', { connectionTracking: { tcpEstablishedTimeout: 432000, udpTimeout: 30 } }),
  least('with empty connection tracking', { connectionTracking: {} }),
  least('with a TCP timeout below a minute', { connectionTracking: { tcpEstablishedTimeout: 59 } }),
  least('with a UDP timeout above a minute', { connectionTracking: { udpTimeout: 61 } }),
  least('with a placement group by name', { placementGroupSelector: { name: 'mine' } }),
  least('with a placement group by name and id', { placementGroupSelector: { name: 'mine', id: 'pg-1' } }),
  least('with a placement group that is not said', { placementGroupSelector: {} }),
  least('with a placement group of an empty name', { placementGroupSelector: { name: '' } }),
];

const MACHINE: readonly TriedSpec[] = [
  least('with one metadata option', { metadataOptions: { httpPutResponseHopLimit: 2 } }),
  least('with empty metadata options', { metadataOptions: {} }),
  least('with a hop limit of 65', { metadataOptions: { httpPutResponseHopLimit: 65 } }),
  least('with a hop limit of 0', { metadataOptions: { httpPutResponseHopLimit: 0 } }),
  least('with unknown metadata tokens', { metadataOptions: { httpTokens: 'maybe' } }),
  least('with nested virtualization', { cpuOptions: { nestedVirtualization: 'enabled' } }),
  least('with unknown nested virtualization', { cpuOptions: { nestedVirtualization: 'on' } }),
  least('with monitoring, user data and a context', { detailedMonitoring: true, userData: 'x', context: 'y' }),
  least('with user data that is no text', { userData: 5 }),
];

const KUBELET: readonly TriedSpec[] = [
  least('with kubelet settings', {
    kubelet: {
      maxPods: 110,
      podsPerCore: 10,
      clusterDNS: ['10.0.0.10'],
      systemReserved: { cpu: '100m', memory: '100Mi', 'ephemeral-storage': '1Gi', pid: '100' },
      kubeReserved: { cpu: '200m' },
      evictionHard: { 'memory.available': '5%', 'nodefs.available': '10Gi' },
      evictionSoft: { 'memory.available': '500Mi' },
      evictionSoftGracePeriod: { 'memory.available': '1m' },
      evictionMaxPodGracePeriod: 60,
      imageGCHighThresholdPercent: 85,
      imageGCLowThresholdPercent: 80,
      cpuCFSQuota: true,
    },
  }),
  least('with a negative number of pods', { kubelet: { maxPods: -1 } }),
  least('with a reservation of an unknown resource', { kubelet: { kubeReserved: { gpu: '1' } } }),
  least('with a negative reservation', { kubelet: { systemReserved: { memory: '-1Gi' } } }),
  least('with a reservation that is no quantity', { kubelet: { systemReserved: { memory: 'much' } } }),
  least('with an unknown eviction signal', { kubelet: { evictionHard: { 'disk.available': '5%' } } }),
  least('with an eviction at 110 %', { kubelet: { evictionHard: { 'memory.available': '110%' } } }),
  least('with a soft eviction without a grace period', { kubelet: { evictionSoft: { 'memory.available': '5%' } } }),
  least('with a grace period without a soft eviction', {
    kubelet: { evictionSoftGracePeriod: { 'memory.available': '1m' } },
  }),
  least('with image thresholds the wrong way round', {
    kubelet: { imageGCHighThresholdPercent: 50, imageGCLowThresholdPercent: 60 },
  }),
  least('with an image threshold of 101 %', { kubelet: { imageGCHighThresholdPercent: 101 } }),
];

/** Of the examples in Karpenter's documentation, written anew as facts. */
const PUBLISHED: readonly TriedSpec[] = [
  least('for Bottlerocket with a data disk', {
    amiSelectorTerms: [{ alias: 'bottlerocket@latest' }],
    blockDeviceMappings: [
      { deviceName: '/dev/xvda', ebs: { volumeSize: '4Gi', volumeType: 'gp3', encrypted: true } },
      { deviceName: '/dev/xvdb', ebs: { volumeSize: '100Gi', volumeType: 'gp3', encrypted: true } },
    ],
    userData: '[settings.kubernetes]\nkube-api-qps = 30\n',
  }),
  least('for Windows', { amiSelectorTerms: [{ alias: 'windows2025@latest' }], amiFamily: 'Windows2025' }),
  least('for own images with own user data', {
    amiFamily: 'Custom',
    amiSelectorTerms: [
      { tags: { 'karpenter.sh/discovery': 'mine', environment: 'test' } },
      { name: 'mine-*', owner: 'self' },
    ],
    userData: '#!/bin/bash\n/usr/local/bin/join\n',
    role: undefined,
    instanceProfile: 'nodes',
  }),
  least('for GPUs with EFA', {
    instanceStorePolicy: 'RAID0',
    capacityReservationSelectorTerms: [{ tags: { purpose: 'training' }, ownerID: '123456789012' }, { id: 'cr-0123' }],
    placementGroupSelector: { id: 'pg-0123' },
    ...interfaces([0, 0, 'interface'], [0, 1, 'efa-only'], [1, 0, 'efa-only']),
  }),
];

/** Everything that is tried. */
export const TRIED_SPECS: readonly TriedSpec[] = [
  ...SUBNETS,
  ...GROUPS,
  ...RESERVATIONS,
  ...IMAGES,
  ...IDENTITY,
  ...DISKS,
  ...NETWORK,
  ...MACHINE,
  ...KUBELET,
  ...PUBLISHED,
];
