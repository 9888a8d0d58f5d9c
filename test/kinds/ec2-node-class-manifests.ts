/** EC2NodeClasses, good and bad: what Karpenter's own definition takes and refuses, ours must. */
import type { Manifest, RefusedManifest } from './manifests.ts';

type Json = Record<string, unknown>;

const LEAST: Json = {
  role: 'KarpenterNodeRole-demo',
  amiSelectorTerms: [{ alias: 'al2023@latest' }],
  subnetSelectorTerms: [{ tags: { 'karpenter.sh/discovery': 'demo' } }],
  securityGroupSelectorTerms: [{ tags: { 'karpenter.sh/discovery': 'demo' } }],
};

function nodeClass(changes: Json = {}, without: readonly string[] = []): Manifest {
  const spec = Object.fromEntries(Object.entries({ ...LEAST, ...changes }).filter(([key]) => !without.includes(key)));
  return { apiVersion: 'karpenter.k8s.aws/v1', kind: 'EC2NodeClass', metadata: { name: 'tried' }, spec };
}

const reservations = (...terms: Json[]): Manifest => nodeClass({ capacityReservationSelectorTerms: terms });
const volume = (ebs: Json): Manifest => nodeClass({ blockDeviceMappings: [{ deviceName: '/dev/xvda', ebs }] });

export const ACCEPTED_EC2_NODE_CLASSES: Readonly<Record<string, Manifest>> = {
  'the least EC2NodeClass': nodeClass(),
  'an instance profile instead of a role': nodeClass({ instanceProfile: 'nodes' }, ['role']),
  'images of an own build': nodeClass({ amiFamily: 'Custom', amiSelectorTerms: [{ name: 'mine-*', owner: 'self' }] }),
  'an alias with a family of its own': nodeClass({ amiFamily: 'Custom' }),
  'images by tag and by SSM parameter': nodeClass({
    amiFamily: 'AL2023',
    amiSelectorTerms: [{ tags: { env: '*' } }, { ssmParameter: '/images/nodes' }],
  }),
  'reservations by ID, by tag, by owner and by how they match': reservations(
    { id: 'cr-123' },
    { tags: { team: '*' }, ownerID: '012345678901' },
    { instanceMatchCriteria: 'targeted' },
  ),
  'reservations by the names that the design has': reservations({ type: 'open', instanceType: 'p5.48xlarge' }),
  'a list in which only one term says too much': nodeClass({
    subnetSelectorTerms: [{ id: 'subnet-1', tags: { a: 'b' } }, { id: 'subnet-2' }],
  }),
  'volumes with and without a snapshot': nodeClass({
    blockDeviceMappings: [
      { deviceName: '/dev/xvda', rootVolume: true, ebs: { volumeSize: '100Gi', volumeType: 'gp3', encrypted: true } },
      { deviceName: '/dev/xvdb', ebs: { snapshotID: 'snap-1', volumeInitializationRate: 200 } },
    ],
  }),
  'settings of the kubelet': nodeClass({
    kubelet: {
      maxPods: 110,
      kubeReserved: { cpu: '100m', memory: '1Gi' },
      evictionHard: { 'memory.available': '5%' },
      evictionSoft: { 'nodefs.available': '10%' },
      evictionSoftGracePeriod: { 'nodefs.available': '2m' },
    },
  }),
  'interfaces for memory between instances': nodeClass({
    networkInterfaces: [
      { networkCardIndex: 0, deviceIndex: 0, interfaceType: 'interface' },
      { networkCardIndex: 0, deviceIndex: 1, interfaceType: 'efa-only' },
    ],
  }),
};

export const REFUSED_EC2_NODE_CLASSES: readonly RefusedManifest[] = [
  {
    what: 'an EC2NodeClass with a role and an instance profile',
    manifest: nodeClass({ instanceProfile: 'nodes' }),
    says: ['instances need one of role and instanceProfile, and not both'],
  },
  {
    what: 'an EC2NodeClass without an alias and without a family',
    manifest: nodeClass({ amiSelectorTerms: [{ id: 'ami-123' }] }),
    says: ['without an alias, amiFamily must say how instances join'],
  },
  {
    what: 'an alias beside another family',
    manifest: nodeClass({ amiFamily: 'Bottlerocket' }),
    says: ['with an alias of al2023, amiFamily is AL2023 or Custom'],
  },
  {
    what: 'an alias that nobody knows',
    manifest: nodeClass({ amiSelectorTerms: [{ alias: 'ubuntu@latest' }] }),
    says: ['the family of an alias is one of al2, al2023'],
  },
  {
    what: 'an alias without a version',
    manifest: nodeClass({ amiSelectorTerms: [{ alias: 'al2023' }] }),
    says: ['an alias is a family, an @ and a version'],
  },
  {
    what: 'an old Windows image by its version',
    manifest: nodeClass({ amiSelectorTerms: [{ alias: 'windows2022@v1' }] }),
    says: ['Windows images have no versions'],
  },
  {
    what: 'an alias among other terms',
    manifest: nodeClass({ amiSelectorTerms: [{ alias: 'al2023@latest' }, { id: 'ami-1' }] }),
    says: ['a term with an alias must be the only one'],
  },
  {
    what: 'an image by ID and name at once',
    manifest: nodeClass({ amiFamily: 'AL2023', amiSelectorTerms: [{ id: 'ami-1', name: 'x' }] }),
    says: ['id says all there is to say'],
  },
  {
    what: 'no term for subnets',
    manifest: nodeClass({ subnetSelectorTerms: [] }),
    says: ['subnetSelectorTerms needs a term'],
  },
  {
    what: 'a list in which every term says too much',
    manifest: nodeClass({ subnetSelectorTerms: [{ id: 'subnet-1', tags: { a: 'b' } }] }),
    says: ['id says all there is to say'],
  },
  {
    what: 'a term of a security group that says nothing',
    manifest: nodeClass({ securityGroupSelectorTerms: [{}] }),
    says: ['each term needs at least one of tags, id, name'],
  },
  {
    what: 'reservations by their owner alone',
    manifest: reservations({ ownerID: '012345678901' }),
    says: ['each term needs at least one of tags, id, instanceMatchCriteria, type, instanceType'],
  },
  {
    what: 'a tag without a value in a selector',
    manifest: reservations({ tags: { team: '' } }),
    says: ['a tag needs a key and a value'],
  },
  {
    what: 'a tag that the autoscaler sets',
    manifest: nodeClass({ tags: { 'karpenter.sh/nodepool': 'x' } }),
    says: ['the tag karpenter.sh/nodepool is set by the autoscaler'],
  },
  {
    what: 'a tag of a cluster',
    manifest: nodeClass({ tags: { 'kubernetes.io/cluster/demo': 'owned' } }),
    says: ['the tag kubernetes.io/cluster/<name> is set by the autoscaler'],
  },
  {
    what: 'a volume without a size',
    manifest: volume({ encrypted: true }),
    says: ['a volume needs a size or a snapshot'],
  },
  {
    what: 'the speed of a snapshot that is not there',
    manifest: volume({ volumeSize: '10Gi', volumeInitializationRate: 200 }),
    says: ['volumeInitializationRate is the speed at which a snapshot is read'],
  },
  {
    what: 'two root volumes',
    manifest: nodeClass({
      blockDeviceMappings: ['/dev/xvda', '/dev/xvdb'].map((deviceName) => ({
        deviceName,
        rootVolume: true,
        ebs: { volumeSize: '10Gi' },
      })),
    }),
    says: ['only one volume can be the rootVolume'],
  },
  {
    what: 'interfaces of which none is the primary one',
    manifest: nodeClass({ networkInterfaces: [{ networkCardIndex: 1, deviceIndex: 0, interfaceType: 'interface' }] }),
    says: ['one network interface must be the primary one'],
  },
  {
    what: 'a soft threshold without a time',
    manifest: nodeClass({ kubelet: { evictionSoft: { 'memory.available': '5%' }, evictionSoftGracePeriod: {} } }),
    says: ['each signal of evictionSoft needs a time'],
  },
  {
    what: 'a reserve of something that kubelet does not reserve',
    manifest: nodeClass({ kubelet: { kubeReserved: { gpu: '1' } } }),
    says: ['kubeReserved knows cpu, memory, ephemeral-storage and pid'],
  },
  {
    what: 'a placement group by name and ID',
    manifest: nodeClass({ placementGroupSelector: { name: 'a', id: 'pg-1' } }),
    says: ['name and id exclude each other'],
  },
];
