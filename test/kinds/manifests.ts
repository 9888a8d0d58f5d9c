/** Manifests of our kinds, good and bad, with what an API server must make of them. */

type Json = Record<string, unknown>;

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec?: Json;
}

export interface RefusedManifest {
  /** Completes "refuses". */
  readonly what: string;
  readonly manifest: Manifest;
  /** What the refusal must say. */
  readonly says: readonly string[];
  /** Where the API server drops what the kind does not have, as it does for those who do not ask it not to. */
  readonly fieldValidation?: 'Ignore';
}

export interface RefusedChange extends RefusedManifest {
  readonly before: Manifest;
}

const REGIONS = [
  { name: 'north', zones: ['north-a', 'north-b'] },
  { name: 'south', zones: ['south-a'] },
];
const CLASS_REF = { group: 'spindrift.dev', kind: 'SimulatedNodeClass', name: 'default' };

/** A pool with this spec on top of the least there can be. */
export function pool(spec: Json = {}, templateSpec: Json = {}, metadata: Json = {}): Manifest {
  const template = { metadata, spec: { nodeClassRef: CLASS_REF, requirements: [], ...templateSpec } };
  return { apiVersion: 'karpenter.sh/v1', kind: 'NodePool', metadata: { name: 'tried' }, spec: { template, ...spec } };
}

function claim(spec: Json = {}): Manifest {
  const whole = { nodeClassRef: CLASS_REF, requirements: [], ...spec };
  return { apiVersion: 'karpenter.sh/v1', kind: 'NodeClaim', metadata: { name: 'tried' }, spec: whole };
}

function nodeClass(spec?: Json): Manifest {
  const named = { apiVersion: 'spindrift.dev/v1alpha1', kind: 'SimulatedNodeClass', metadata: { name: 'tried' } };
  return spec === undefined ? named : { ...named, spec };
}

/** A policy with this spec. */
export function spotPolicy(spec?: Json): Manifest {
  const named = { apiVersion: 'spindrift.dev/v1alpha1', kind: 'SpotPolicy', metadata: { name: 'tried' } };
  return spec === undefined ? named : { ...named, spec };
}

function overlay(spec: Json): Manifest {
  const whole = { requirements: [], ...spec };
  return { apiVersion: 'karpenter.sh/v1alpha1', kind: 'NodeOverlay', metadata: { name: 'tried' }, spec: whole };
}

function buffer(spec: Json): Manifest {
  const metadata = { name: 'tried', namespace: 'default' };
  return { apiVersion: 'autoscaling.x-k8s.io/v1beta1', kind: 'CapacityBuffer', metadata, spec };
}

const requiring = (...requirements: Json[]): Manifest => pool({}, { requirements });
const disrupting = (disruption: Json): Manifest => pool({ disruption });
const budget = (given: Json): Manifest => disrupting({ budgets: [given] });

/** What people have in their repositories. */
export const ACCEPTED: Readonly<Record<string, Manifest>> = {
  'an overlay with a discount for a pool': overlay({
    requirements: [{ key: 'karpenter.sh/nodepool', operator: 'In', values: ['general'] }],
    priceAdjustment: '-28%',
    weight: 10,
  }),
  'an overlay with a price and a device': overlay({ price: '0.42', capacity: { 'example.com/fuse': '20' } }),
  'a buffer of a template': buffer({ podTemplateRef: { name: 'one' }, replicas: 3 }),
  'a buffer of a template within limits': buffer({ podTemplateRef: { name: 'one' }, limits: { cpu: 8 } }),
  'a buffer of a share of a Deployment': buffer({
    scalableRef: { apiGroup: 'apps', kind: 'Deployment', name: 'web' },
    percentage: 20,
  }),
  'the least a pool can be': pool(),
  'a pool for general purposes': pool(
    {
      limits: { cpu: 1000, memory: '1000Gi', 'nvidia.com/gpu': '8', nodes: 50 },
      weight: 10,
      disruption: {
        consolidationPolicy: 'WhenEmptyOrUnderutilized',
        consolidateAfter: '1m',
        budgets: [
          { nodes: '10%' },
          { nodes: '0', schedule: '0 9 * * mon-fri', duration: '8h', reasons: ['Underutilized', 'Drifted'] },
          { nodes: '100%', reasons: ['Empty', 'Unhealthy'], schedule: '@daily', duration: '1h30m0s' },
        ],
      },
    },
    {
      expireAfter: 'Never',
      terminationGracePeriod: '48h30m',
      taints: [{ key: 'example.com/special', value: 'yes', effect: 'NoSchedule' }],
      startupTaints: [{ key: 'example.com/agent-not-ready', effect: 'NoExecute' }],
      nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' },
      requirements: [
        { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['spot', 'on-demand', 'reserved'] },
        { key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] },
        { key: 'kubernetes.io/os', operator: 'In', values: ['linux'] },
        { key: 'karpenter.k8s.aws/instance-category', operator: 'In', values: ['c', 'm', 'r'], minValues: 2 },
        { key: 'karpenter.k8s.aws/instance-family', operator: 'Exists', minValues: 5 },
        { key: 'karpenter.k8s.aws/instance-generation', operator: 'Gt', values: ['2'] },
        { key: 'karpenter.k8s.aws/instance-cpu', operator: 'Lte', values: ['32'] },
        { key: 'example.com/team', operator: 'DoesNotExist' },
        { key: 'topology.kubernetes.io/zone', operator: 'NotIn', values: ['us-west-2d'] },
      ],
    },
    { labels: { 'example.com/team': 'payments', 'karpenter.sh/capacity-type': 'spot' }, annotations: { note: 'ours' } },
  ),
  'a pool that keeps a number of nodes': pool({ replicas: 3, limits: { nodes: 5 } }),
  'a pool that may have nothing': pool({ limits: { cpu: 0, memory: 0 } }),
  'a pool that is balanced': disrupting({ consolidationPolicy: 'Balanced' }),
  'a claim': claim({ resources: { requests: { cpu: '1500m', memory: '2Gi', pods: 3 } } }),
  'a claim that names its pool': claim({
    requirements: [{ key: 'karpenter.sh/nodepool', operator: 'In', values: ['general'] }],
  }),
  'a node class without a spec': nodeClass(),
  'a node class with everything': nodeClass({
    catalog: 'standard',
    catalogFile: '/etc/spindrift/types.json',
    regions: REGIONS,
    seed: 'seven',
    spotMarket: { volatility: 0.5, priceFactor: 2, capacityPerPool: 20, interruptionsPerHour: 0.25, notice: '30s' },
    reservations: [
      { id: 'r-1', instanceType: 'm7i.large', zone: 'south-a', count: 5 },
      {
        id: 'r-2',
        instanceType: 'p5.48xlarge',
        zone: 'north-a',
        count: 1,
        match: 'open',
        endTime: '2030-01-01T00:00:00Z',
      },
    ],
    overrides: [
      { capacityType: 'spot', instanceType: 'm7i.large', zone: 'north-b', capacity: 0 },
      { capacityType: 'on-demand', priceFactor: 1.5 },
    ],
    faults: { latency: '250ms', errorRate: 0.1, hangRate: 1, requestsPerSecond: 20, consistencyDelay: '3s' },
    registrationDelay: '1m30s',
  }),
  'a spot policy without a spec': spotPolicy(),
  'a spot policy with everything': spotPolicy({
    nodePoolSelector: {
      matchLabels: { 'example.com/team': 'payments' },
      matchExpressions: [
        { key: 'tier', operator: 'In', values: ['front', 'back'] },
        { key: 'legacy', operator: 'DoesNotExist' },
      ],
    },
    priority: -5,
    onRebalance: 'Replace',
    onDemand: { base: 2, percent: 25 },
    maxPercentPerSpotPool: 20,
    riskWeight: 2.5,
    unavailableFor: '1h30m',
    returnToSpot: { after: 'Never', budget: '3' },
    flavorOrder: 'Weight',
    flavorWeights: [
      { flavor: 'l4', capacityType: 'spot', weight: 100 },
      { flavor: 'l4', capacityType: 'on-demand', weight: 1 },
      { flavor: 'a10g', capacityType: 'spot', weight: 50 },
    ],
  }),
  'a spot policy at the ends of its ranges': spotPolicy({
    onDemand: { base: 0, percent: 100 },
    maxPercentPerSpotPool: 1,
    riskWeight: 0,
    unavailableFor: '1s',
    returnToSpot: { after: '0s', budget: '100%' },
  }),
};

/** What is wrong, with the sentence that says what to write instead. */
export const REFUSED: readonly RefusedManifest[] = [
  // Former spellings.
  {
    what: 'the former name of a consolidation policy, and an expiry where it once was',
    manifest: disrupting({ consolidationPolicy: 'WhenUnderutilized', consolidateAfter: '10s', expireAfter: '12h' }),
    says: [
      'WhenUnderutilized is now called WhenEmptyOrUnderutilized',
      'expireAfter does not belong here: write it under template.spec as expireAfter',
    ],
  },
  {
    what: 'a pool without a template, as it was sketched once',
    manifest: {
      ...pool(),
      spec: { requirements: [{ key: 'karpenter.sh/capacity-type', operator: 'In', values: ['spot'] }] },
    },
    says: [
      'template is required: write requirements and nodeClassRef under template.spec',
      'requirements does not belong here: write it under template.spec as requirements',
    ],
  },
  {
    what: 'the seconds of a provisioner',
    manifest: pool({ ttlSecondsAfterEmpty: 30, ttlSecondsUntilExpired: 2592000 }),
    says: [
      'ttlSecondsAfterEmpty does not belong here: write disruption.consolidationPolicy: WhenEmpty',
      'ttlSecondsUntilExpired does not belong here: write the time under template.spec as expireAfter',
    ],
  },
  {
    what: 'the reference of a provisioner to its provider',
    manifest: pool({ providerRef: { name: 'default' }, consolidation: { enabled: true } }),
    says: [
      'providerRef does not belong here: name the node class under template.spec as nodeClassRef',
      'consolidation does not belong here: write disruption.consolidationPolicy: WhenEmptyOrUnderutilized',
    ],
  },
  {
    what: 'a node class by its version',
    manifest: pool(
      {},
      { nodeClassRef: { apiVersion: 'karpenter.k8s.aws/v1beta1', kind: 'EC2NodeClass', name: 'default' } },
    ),
    says: ['apiVersion does not belong here: write the part before the slash as group', 'group is required'],
  },
  {
    what: 'a kubelet in the template',
    manifest: pool({}, { kubelet: { maxPods: 20 } }),
    says: ['kubelet does not belong here: write it in the node class'],
  },
  // Requirements.
  {
    what: 'an operator in small letters',
    manifest: requiring({ key: 'kubernetes.io/arch', operator: 'in', values: ['amd64'] }),
    says: [
      'requirements[0].operator: Unsupported value: "in"',
      '"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte"',
    ],
  },
  {
    what: "'In' without values",
    manifest: requiring({ key: 'kubernetes.io/arch', operator: 'In' }),
    says: ['requirements[0]: Invalid value', "operator 'In' needs at least one value"],
  },
  {
    what: 'a comparison with a word',
    manifest: requiring({ key: 'example.com/size', operator: 'Gt', values: ['large'] }),
    says: ["operators 'Gt', 'Lt', 'Gte' and 'Lte' take exactly one whole number"],
  },
  {
    what: 'a comparison with two numbers',
    manifest: requiring({ key: 'example.com/size', operator: 'Lte', values: ['1', '2'] }),
    says: ["operators 'Gt', 'Lt', 'Gte' and 'Lte' take exactly one whole number"],
  },
  {
    what: 'more minValues than values',
    manifest: requiring({ key: 'example.com/size', operator: 'In', values: ['1', '2'], minValues: 3 }),
    says: ['minValues asks for more values than are listed'],
  },
  {
    what: 'more minValues than there may be',
    manifest: requiring({ key: 'example.com/size', operator: 'Exists', minValues: 51 }),
    says: ['should be less than or equal to 50'],
  },
  {
    what: 'a value that no label can have',
    manifest: requiring({ key: 'example.com/size', operator: 'In', values: ['very large'] }),
    says: ['requirements[0].values[0]'],
  },
  {
    what: 'a requirement on what is no label',
    manifest: requiring({ key: 'Instance Type', operator: 'Exists' }),
    says: ['a label is a name, with a domain and a slash before it or without, as in example.com/team'],
  },
  {
    what: 'a requirement on a label of the autoscaler',
    manifest: requiring({ key: 'karpenter.sh/registered', operator: 'Exists' }),
    says: [
      'labels of the domain karpenter.sh are set by the autoscaler: only karpenter.sh/capacity-type can be asked for',
    ],
  },
  {
    what: 'a requirement on a label of a domain below the autoscaler’s',
    manifest: requiring({ key: 'sub.karpenter.sh/thing', operator: 'Exists' }),
    says: ['labels of the domain karpenter.sh are set by the autoscaler'],
  },
  {
    what: 'a requirement on the name of the pool',
    manifest: requiring({ key: 'karpenter.sh/nodepool', operator: 'In', values: ['other'] }),
    says: ['karpenter.sh/nodepool is set by the autoscaler to the name of the node pool: leave it out'],
  },
  {
    what: 'a requirement on the name of a node',
    manifest: requiring({ key: 'kubernetes.io/hostname', operator: 'In', values: ['node-1'] }),
    says: ['kubernetes.io/hostname is not known before there is a node: leave it out'],
  },
  {
    what: 'a pool without requirements',
    manifest: { ...pool(), spec: { template: { spec: { nodeClassRef: CLASS_REF } } } },
    says: ['spec.template.spec.requirements: Required value'],
  },
  // Template.
  {
    what: 'labels of the autoscaler in the template',
    manifest: pool(
      {},
      {},
      { labels: { 'karpenter.sh/nodepool': 'x', 'karpenter.sh/initialized': 'true', 'kubernetes.io/hostname': 'y' } },
    ),
    says: [
      'labels of the domain karpenter.sh are set by the autoscaler',
      'karpenter.sh/nodepool is set by the autoscaler',
      'kubernetes.io/hostname is not known before there is a node',
    ],
  },
  {
    what: 'a value in the template that no label can have',
    manifest: pool({}, {}, { labels: { team: 'my team' } }),
    says: ['"my team": the value of a label has letters, digits, -, _ and . between a letter or digit at each end'],
  },
  {
    what: 'a node class without a kind',
    manifest: pool({}, { nodeClassRef: { group: 'spindrift.dev', kind: '', name: 'default' } }),
    says: ['kind may not be empty'],
  },
  {
    what: 'a taint with an effect that there is not',
    manifest: pool({}, { taints: [{ key: 'example.com/x', effect: 'NoRun' }] }),
    says: ['Unsupported value: "NoRun": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"'],
  },
  {
    what: 'a grace period in days',
    manifest: pool({}, { terminationGracePeriod: '2d', expireAfter: '30d' }),
    says: [
      'spec.template.spec.terminationGracePeriod: Invalid value: "2d": a duration is written in whole hours, minutes and seconds',
      'as in 720h, 1h30m or 30s, or Never',
    ],
  },
  {
    what: 'a grace period that never ends',
    manifest: pool({}, { terminationGracePeriod: 'Never' }),
    says: ['a duration is written in whole hours, minutes and seconds, as in 720h, 1h30m or 30s'],
  },
  // Limits.
  {
    what: 'a limit of a unit that there is not',
    manifest: pool({ limits: { memory: '1000GB' } }),
    says: ['spec.limits[memory]: Invalid value: "1000GB": a limit is a number with one of the suffixes m, k, M, G'],
  },
  {
    what: 'a limit of processors in bytes',
    manifest: pool({ limits: { cpu: '100Gi' } }),
    says: ['limits.cpu counts cores: write it without Ki, Mi, Gi, as in cpu: 1000'],
  },
  {
    what: 'a limit of memory that forgot its unit',
    manifest: pool({ limits: { memory: 1000 } }),
    says: ['limits.memory counts bytes and this is less than any node has: write it with a unit, as in memory: 1000Gi'],
  },
  // Disruption.
  {
    what: 'a budget with a schedule and no duration',
    manifest: budget({ nodes: '0', schedule: '@daily' }),
    says: [
      'spec.disruption.budgets[0]: Invalid value',
      'schedule and duration go together: add the one that is missing',
    ],
  },
  {
    what: 'a budget with a duration and no schedule',
    manifest: budget({ nodes: '0', duration: '8h' }),
    says: ['schedule and duration go together'],
  },
  {
    what: 'a budget whose duration has seconds',
    manifest: budget({ nodes: '0', schedule: '@daily', duration: '90s' }),
    says: ['the duration of a budget is written in whole hours and minutes, as in 8h, 30m or 1h30m'],
  },
  {
    what: 'a budget of more than all nodes',
    manifest: budget({ nodes: '101%' }),
    says: ['nodes is a percentage or a number of nodes, as in "10%" or "5"'],
  },
  {
    what: 'a budget for a reason that there is not',
    manifest: budget({ nodes: '1', reasons: ['Expired'] }),
    says: ['Unsupported value: "Expired": supported values: "Underutilized", "Empty", "Drifted", "Unhealthy"'],
  },
  {
    what: 'a schedule with three fields',
    manifest: budget({ nodes: '1', schedule: '0 9 *', duration: '1h' }),
    says: ['spec.disruption.budgets[0].schedule: Invalid value: "0 9 *": a schedule has five fields, minute, hour,'],
  },
  {
    what: 'a waiting time without a unit',
    manifest: disrupting({ consolidateAfter: '30' }),
    says: ['spec.disruption.consolidateAfter: Invalid value: "30": a duration is written in'],
  },
  { what: 'a weight beyond 100', manifest: pool({ weight: 101 }), says: ['should be less than or equal to 100'] },
  // Pools with replicas.
  {
    what: 'a weight beside replicas',
    manifest: pool({ replicas: 1, weight: 1 }),
    says: ['with replicas there is no weight: remove one of them'],
  },
  {
    what: 'a limit of processors beside replicas',
    manifest: pool({ replicas: 1, limits: { nodes: 5, cpu: 10 } }),
    says: ['with replicas, nodes is the only limit there can be: remove the others'],
  },
  // Overlays and buffers.
  {
    what: 'a price beside an adjustment',
    manifest: overlay({ price: '1', priceAdjustment: '+1%' }),
    says: ['price and priceAdjustment say different things about one price: remove one of them'],
  },
  {
    what: 'a price with a sign',
    manifest: overlay({ price: '-1' }),
    says: ['price is a number of USD per hour without a sign'],
  },
  {
    what: 'a discount of more than everything',
    manifest: overlay({ priceAdjustment: '-101%' }),
    says: ['takes off 100% at most'],
  },
  {
    what: 'an overlay on processors',
    manifest: overlay({ capacity: { cpu: '4' } }),
    says: ['an overlay adds resources that the cloud does not know of'],
  },
  {
    what: 'a buffer of a template without a size',
    manifest: buffer({ podTemplateRef: { name: 'one' } }),
    says: ['with podTemplateRef, write how many pods there is room for: add replicas or limits'],
  },
  {
    what: 'a buffer of two kinds of pods',
    manifest: buffer({
      podTemplateRef: { name: 'one' },
      scalableRef: { kind: 'Deployment', name: 'web' },
      replicas: 1,
    }),
    says: ['a buffer is for one kind of pod: remove podTemplateRef or scalableRef'],
  },
  {
    what: 'a buffer of less than nothing',
    manifest: buffer({ podTemplateRef: { name: 'one' }, replicas: -1 }),
    says: ['should be greater than or equal to 0'],
  },
  // Claims.
  {
    what: 'a claim on the name of a node',
    manifest: claim({ requirements: [{ key: 'kubernetes.io/hostname', operator: 'Exists' }] }),
    says: ['kubernetes.io/hostname is not known before there is a node'],
  },
  // Node classes.
  {
    what: 'a reservation in no zone of the class',
    manifest: nodeClass({
      regions: REGIONS,
      reservations: [{ id: 'r', instanceType: 'm7i.large', zone: 'mars-1a', count: 1 }],
    }),
    says: ['a reservation is in a zone that is not in regions: name one of their zones'],
  },
  {
    what: 'an override in no zone of the class',
    manifest: nodeClass({ regions: REGIONS, overrides: [{ capacityType: 'spot', zone: 'mars-1a', capacity: 0 }] }),
    says: ['an override names a zone that is not in regions: name one of their zones, or *'],
  },
  {
    what: 'two reservations of one name',
    manifest: nodeClass({
      reservations: [1, 2].map((count) => ({ id: 'r', instanceType: 'm7i.large', zone: 'sim-1a', count })),
    }),
    says: ['spec.reservations[1]: Duplicate value'],
  },
  {
    what: 'a rate above one',
    manifest: nodeClass({ faults: { errorRate: 50 } }),
    says: ['spec.faults.errorRate in body should be less than or equal to 1'],
  },
  {
    what: 'a delay without a unit',
    manifest: nodeClass({ registrationDelay: '5' }),
    says: ['a duration is written in whole hours, minutes, seconds and milliseconds'],
  },
  // Spot policies.
  {
    what: 'shares of more than all nodes',
    manifest: spotPolicy({ onDemand: { percent: 120 }, maxPercentPerSpotPool: 101 }),
    says: [
      'spec.onDemand.percent: Invalid value: 120: percent is a share: write 0 to 100',
      'spec.maxPercentPerSpotPool: Invalid value: 101: maxPercentPerSpotPool is a share: write 1 to 100',
    ],
  },
  {
    what: 'shares of less than nothing',
    manifest: spotPolicy({ onDemand: { base: -1, percent: -20 }, maxPercentPerSpotPool: 0 }),
    says: ['base is a number of nodes: write 0 or more', 'write 0 to 100', 'write 1 to 100'],
  },
  {
    what: 'an action on rebalance that there is not',
    manifest: spotPolicy({ onRebalance: 'Drain' }),
    says: ['Unsupported value: "Drain": supported values: "Event", "Cordon", "Replace"'],
  },
  {
    what: 'a risk that weighs less than nothing',
    manifest: spotPolicy({ riskWeight: -1 }),
    says: ['riskWeight is in hours of the machine: write 0 to 1000'],
  },
  {
    what: 'times without a unit',
    manifest: spotPolicy({ unavailableFor: '180', returnToSpot: { after: '15' } }),
    says: [
      'spec.unavailableFor: Invalid value: "180": a duration is written in whole hours, minutes and seconds, as in 3m',
      'spec.returnToSpot.after: Invalid value: "15": a duration is written in whole hours, minutes and seconds',
    ],
  },
  {
    what: 'times that end beyond all dates',
    manifest: spotPolicy({ unavailableFor: '99999999999999h', returnToSpot: { after: '99999999999999h' } }),
    says: [
      'spec.unavailableFor: Invalid value: "99999999999999h": a duration is written in whole hours, minutes and seconds, as in 3m, 1h30m or 30s, with at most 999999h',
      'spec.returnToSpot.after: Invalid value: "99999999999999h": a duration',
    ],
  },
  {
    what: 'a delay that ends beyond all dates',
    manifest: nodeClass({ registrationDelay: '99999999999999h' }),
    says: ['as in 2m, 30s or 250ms, with at most 999999h'],
  },
  {
    what: 'offerings that are unavailable for no time',
    manifest: spotPolicy({ unavailableFor: '0s' }),
    says: ['unavailableFor must be longer than nothing: write at least 1s'],
  },
  {
    what: 'the order of weights without weights',
    manifest: spotPolicy({ flavorOrder: 'Weight' }),
    says: [
      'flavorOrder Weight needs weights: add flavorWeights, as in flavorWeights: [{flavor: l4, capacityType: spot, weight: 100}]',
    ],
  },
  {
    what: 'weights that another order would pass over',
    manifest: spotPolicy({
      flavorOrder: 'SpotFirst',
      flavorWeights: [{ flavor: 'l4', capacityType: 'spot', weight: 1 }],
    }),
    says: ['flavorWeights needs flavorOrder Weight: write flavorOrder: Weight, or remove flavorWeights'],
  },
  {
    what: 'weights beyond their range',
    manifest: spotPolicy({
      flavorOrder: 'Weight',
      flavorWeights: [
        { flavor: 'l4', capacityType: 'spot', weight: 0 },
        { flavor: 'l4', capacityType: 'on-demand', weight: 101 },
      ],
    }),
    says: [
      'spec.flavorWeights[0].weight: Invalid value: 0: weight is a rank: write 1 to 100, the highest is tried first',
      'spec.flavorWeights[1].weight: Invalid value: 101: weight is a rank',
    ],
  },
  {
    what: 'two weights for one flavor on one capacity type',
    manifest: spotPolicy({
      flavorOrder: 'Weight',
      flavorWeights: [
        { flavor: 'l4', capacityType: 'spot', weight: 1 },
        { flavor: 'l4', capacityType: 'spot', weight: 2 },
      ],
    }),
    says: ['spec.flavorWeights[1]: Duplicate value'],
  },
  {
    what: 'a weight of a capacity type that there is not',
    manifest: spotPolicy({
      flavorOrder: 'Weight',
      flavorWeights: [{ flavor: 'l4', capacityType: 'ondemand', weight: 1 }],
    }),
    says: ['spec.flavorWeights[0].capacityType: Unsupported value: "ondemand"', '"on-demand"'],
  },
  {
    what: 'a selector of pools with values that no label can have',
    manifest: spotPolicy({
      nodePoolSelector: {
        matchLabels: { tier: 'front end' },
        matchExpressions: [{ key: 'tier', operator: 'In', values: ['back end'] }],
      },
    }),
    says: ['"front end": the value of a label has letters', '"back end": the value of a label has letters'],
  },
  {
    what: 'a selector of pools whose labels are not where they belong',
    manifest: spotPolicy({ nodePoolSelector: { spot: 'careful' } }),
    fieldValidation: 'Ignore',
    says: [
      'nodePoolSelector names no labels: write them under matchLabels, as in matchLabels: {spot: careful}, or leave nodePoolSelector out for every NodePool',
    ],
  },
  {
    what: 'shares by the names that others have for them',
    manifest: spotPolicy({ onDemand: { baseCapacity: 2, percentage: 20 } }),
    says: [
      'baseCapacity does not belong here: write it as base',
      'percentage does not belong here: write it as percent',
    ],
  },
  {
    what: 'a return to spot of more than all nodes',
    manifest: spotPolicy({ returnToSpot: { budget: '150%' } }),
    says: ['budget is a percentage or a number of nodes, as in "10%" or "5"'],
  },
  {
    what: 'a selector of pools without values, and one with too many',
    manifest: spotPolicy({
      nodePoolSelector: {
        matchExpressions: [
          { key: 'tier', operator: 'In' },
          { key: 'tier', operator: 'Exists', values: ['front'] },
        ],
      },
    }),
    says: [
      'In and NotIn compare with values: add values, or write Exists or DoesNotExist',
      'Exists and DoesNotExist compare with nothing: remove values, or write In or NotIn',
    ],
  },
];

/** What may not be changed once it is there. */
export const REFUSED_CHANGES: readonly RefusedChange[] = [
  {
    what: 'another kind of node class for a pool',
    before: pool(),
    manifest: pool({}, { nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' } }),
    says: ['nodeClassRef.group cannot be changed: make a new NodePool', 'nodeClassRef.kind cannot be changed'],
  },
  {
    what: 'replicas for a pool that had none',
    before: pool(),
    manifest: pool({ replicas: 1 }),
    says: ['replicas cannot be added to or taken from a NodePool: make a new one'],
  },
  {
    what: 'anything else for a claim',
    before: claim(),
    manifest: claim({ terminationGracePeriod: '1h' }),
    says: ['spec is immutable: delete the claim and make a new one'],
  },
];
