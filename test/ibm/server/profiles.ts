/** Instance profiles with their union-typed fields, as GET /instance/profiles gives them. */

export interface ProfileShape {
  readonly name: string;
  readonly family: string;
  readonly vcpu: number;
  readonly memoryGiB: number;
  /** `standard` and `spot` make an enum; one alone is fixed. */
  readonly classes: readonly ('standard' | 'spot')[];
  readonly architecture?: 'amd64' | 's390x';
  readonly gpu?: { readonly count: number; readonly model: string; readonly maker: string; readonly memoryGiB: number };
  /** Instance storage in GB. */
  readonly disksGB?: readonly number[];
  readonly status?: 'current' | 'previous';
  /** Where it is sold; all zones when absent. */
  readonly zones?: readonly string[];
}

const BOTH = ['standard', 'spot'] as const;
const STANDARD = ['standard'] as const;

/** Real names and shapes of several families, Flex and GPU among them: these do spot. */
export const PROFILES: readonly ProfileShape[] = [
  ...[2, 4, 8, 16, 32].flatMap((vcpu): ProfileShape[] => [
    {
      name: `bx2-${vcpu}x${vcpu * 4}`,
      family: 'balanced',
      vcpu,
      memoryGiB: vcpu * 4,
      classes: STANDARD,
      status: 'previous',
    },
    {
      name: `cx2-${vcpu}x${vcpu * 2}`,
      family: 'compute',
      vcpu,
      memoryGiB: vcpu * 2,
      classes: STANDARD,
      status: 'previous',
    },
    {
      name: `mx2-${vcpu}x${vcpu * 8}`,
      family: 'memory',
      vcpu,
      memoryGiB: vcpu * 8,
      classes: STANDARD,
      status: 'previous',
    },
    { name: `bxf-${vcpu}x${vcpu * 4}`, family: 'balanced', vcpu, memoryGiB: vcpu * 4, classes: BOTH },
    { name: `cxf-${vcpu}x${vcpu * 2}`, family: 'compute', vcpu, memoryGiB: vcpu * 2, classes: BOTH },
    { name: `mxf-${vcpu}x${vcpu * 8}`, family: 'memory', vcpu, memoryGiB: vcpu * 8, classes: BOTH },
  ]),
  { name: 'bx3d-8x40', family: 'balanced', vcpu: 8, memoryGiB: 40, classes: STANDARD, disksGB: [260] },
  { name: 'bx3d-128x640', family: 'balanced', vcpu: 128, memoryGiB: 640, classes: STANDARD, disksGB: [2080, 2080] },
  { name: 'bz2-4x16', family: 'balanced', vcpu: 4, memoryGiB: 16, classes: STANDARD, architecture: 's390x' },
  {
    name: 'gx3-16x80x1l4',
    family: 'gpu',
    vcpu: 16,
    memoryGiB: 80,
    classes: BOTH,
    gpu: { count: 1, model: 'l4', maker: 'nvidia', memoryGiB: 24 },
  },
  {
    name: 'gx3d-160x1792x8h100',
    family: 'gpu',
    vcpu: 160,
    memoryGiB: 1792,
    classes: BOTH,
    gpu: { count: 8, model: 'h100', maker: 'nvidia', memoryGiB: 640 },
    disksGB: [7680, 7680, 7680, 7680, 7680, 7680, 7680, 7680],
  },
  {
    name: 'gx3d-208x1792x8mi300x',
    family: 'gpu',
    vcpu: 208,
    memoryGiB: 1792,
    classes: STANDARD,
    gpu: { count: 8, model: 'mi300x', maker: 'amd', memoryGiB: 1536 },
  },
  {
    name: 'gx3d-160x1792x8gaudi3',
    family: 'gpu',
    vcpu: 160,
    memoryGiB: 1792,
    classes: STANDARD,
    gpu: { count: 8, model: 'gaudi3', maker: 'intel', memoryGiB: 1024 },
  },
];

const fixed = (value: unknown) => ({ type: 'fixed', value });

/** A profile on the wire. */
export function profileOnWire(shape: ProfileShape, base: string, zones: readonly { href: string; name: string }[]) {
  const { gpu, architecture = 'amd64' } = shape;
  const [first = 'standard'] = shape.classes;
  return {
    availability_class:
      shape.classes.length > 1
        ? { type: 'enum', default: 'standard', values: [...shape.classes] }
        : { type: 'fixed', value: first },
    bandwidth: fixed(Math.min(80_000, shape.vcpu * 2000)),
    cluster_network_attachment_count: { type: 'enum', default: 0, values: [0] },
    confidential_compute_modes: { type: 'enum', default: 'disabled', values: ['disabled'] },
    disks: (shape.disksGB ?? []).map((size) => ({
      quantity: fixed(1),
      size: fixed(size),
      supported_interface_types: { type: 'enum', default: 'virtio_blk', values: ['nvme', 'virtio_blk'] },
    })),
    family: shape.family,
    ...(gpu === undefined
      ? {}
      : {
          gpu_count: fixed(gpu.count),
          gpu_manufacturer: { type: 'enum', values: [gpu.maker] },
          gpu_memory: fixed(gpu.memoryGiB),
          gpu_model: { type: 'enum', values: [gpu.model] },
        }),
    href: `${base}/instance/profiles/${shape.name}`,
    memory: fixed(shape.memoryGiB),
    name: shape.name,
    network_attachment_count: { type: 'range', min: 1, max: 5 },
    network_bandwidth_mode: { type: 'enum', default: 'unpooled', values: ['pooled', 'unpooled'] },
    network_interface_count: { type: 'range', min: 1, max: 5 },
    numa_count: fixed(1),
    os_architecture: { type: 'enum', default: architecture, values: [architecture] },
    port_speed: fixed(16_000),
    reservation_terms: { type: 'enum', values: ['one_year', 'three_year'] },
    resource_type: 'instance_profile',
    secure_boot_modes: { type: 'enum', default: false, values: [false, true] },
    status: shape.status ?? 'current',
    supported_cluster_network_profiles: [],
    threads_per_core: { type: 'enum', default: 2, values: [2] },
    total_volume_bandwidth: { type: 'range', min: 500, max: 16_000, step: 1, default: 4000 },
    vcpu_architecture: fixed(architecture),
    vcpu_burst_limit: fixed(100),
    vcpu_count: fixed(shape.vcpu),
    vcpu_manufacturer: fixed(architecture === 's390x' ? 'ibm' : 'intel'),
    vcpu_percentage: { type: 'enum', default: 100, values: [100] },
    volume_bandwidth_qos_modes: { type: 'enum', default: 'weighted', values: ['weighted', 'pooled'] },
    zones: zones.filter((zone) => shape.zones?.includes(zone.name) ?? true),
  };
}
