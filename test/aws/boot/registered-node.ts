/** The Node that a kubelet registers: what the hardware has, and what the user data said. */
import type { Node } from '../../../src/apis/kubernetes/node.ts';
import type { Machine } from '../aws-ground-types.ts';
import type { Cluster } from './boot.ts';
import type { BootSettings } from './boot-settings.ts';

/** Firmware and kernel keep some of the memory that a type is sold with. */
const KEPT_BY_MACHINE = 0.06;
const MIB = 1024 * 1024;
const GIB = 1024 * MIB;
const DEFAULT_DISK_GIB = 20;
/** nodeadm's and bootstrap.sh's defaults, where the settings say nothing. */
const EVICTION_HARD = { 'memory.available': '100Mi', 'nodefs.available': '10%' };

/** Also the labels that the cloud's node controller puts on. */
export function registeredNode(machine: Machine, settings: BootSettings, cluster: Cluster): Node {
  const windows = machine.imageName.startsWith('Windows');
  const pods = settings.maxPods ?? 110;
  const memory = Math.floor(machine.memoryMib * (1 - KEPT_BY_MACHINE)) * MIB;
  const disk = diskBytes(machine, settings);
  const capacity = {
    cpu: String(machine.vcpus),
    memory: `${memory / 1024}Ki`,
    pods: String(pods),
    'ephemeral-storage': `${Math.floor(disk / 1024)}Ki`,
    ...devices(machine),
  };
  const reserved = { ...defaultReserved(machine.vcpus, pods), ...settings.kubeReserved };
  const eviction = { ...EVICTION_HARD, ...settings.evictionHard };
  const { systemReserved } = settings;
  const left = (total: number, key: string, evicted: number): number =>
    total - quantity(reserved[key] ?? '0') - quantity(systemReserved[key] ?? '0') - evicted;
  const allocatable = {
    ...capacity,
    cpu: `${Math.floor(left(machine.vcpus, 'cpu', 0) * 1000)}m`,
    memory: `${Math.floor(left(memory, 'memory', share(eviction['memory.available'], memory)) / 1024)}Ki`,
    'ephemeral-storage': String(Math.floor(left(disk, 'ephemeral-storage', share(eviction['nodefs.available'], disk)))),
  };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: machine.privateDnsName,
      annotations: { 'kwok.x-k8s.io/node': 'fake' },
      labels: {
        'kubernetes.io/hostname': machine.privateDnsName,
        'kubernetes.io/os': windows ? 'windows' : 'linux',
        'kubernetes.io/arch': machine.architecture === 'arm64' ? 'arm64' : 'amd64',
        'node.kubernetes.io/instance-type': machine.type,
        'topology.kubernetes.io/region': cluster.region,
        'topology.kubernetes.io/zone': machine.zone,
        'topology.k8s.aws/zone-id': machine.zoneId,
        ...settings.labels,
      },
    },
    spec: { providerID: `aws:///${machine.zone}/${machine.id}`, taints: settings.taints },
    status: {
      capacity,
      allocatable,
      addresses: [
        { type: 'InternalIP', address: machine.privateIpAddress },
        { type: 'Hostname', address: machine.privateDnsName },
      ],
      nodeInfo: {
        architecture: machine.architecture === 'arm64' ? 'arm64' : 'amd64',
        operatingSystem: windows ? 'windows' : 'linux',
        osImage: machine.imageName,
        kubeletVersion: cluster.kubeletVersion,
        containerRuntimeVersion: 'containerd://2.1.4',
        kernelVersion: '6.12.46',
        kubeProxyVersion: cluster.kubeletVersion,
        bootID: machine.id,
        machineID: machine.id,
        systemUUID: machine.id,
      },
    },
  };
}

function diskBytes(machine: Machine, settings: BootSettings): number {
  if (settings.usesInstanceStore && machine.instanceStorageGb > 0) return machine.instanceStorageGb * 1e9;
  const data = machine.imageName.startsWith('bottlerocket') ? '/dev/xvdb' : undefined;
  const disk = machine.disks.find(({ DeviceName }) => DeviceName === data) ?? machine.disks[0];
  return (disk?.Ebs?.VolumeSize ?? DEFAULT_DISK_GIB) * GIB;
}

/** What device plugins would announce. */
function devices(machine: Machine): Record<string, string> {
  const found: Record<string, string> = {};
  const names: Record<string, string> = { NVIDIA: 'nvidia.com/gpu', AMD: 'amd.com/gpu', Habana: 'habana.ai/gaudi' };
  for (const { Manufacturer, Count } of machine.gpus) {
    const name = names[Manufacturer];
    if (name !== undefined) found[name] = String(Number(found[name] ?? 0) + Count);
  }
  const neuron = machine.neuronDevices.reduce((sum, { Count }) => sum + Count, 0);
  if (neuron > 0) {
    found['aws.amazon.com/neuron'] = String(neuron);
    found['aws.amazon.com/neuroncore'] = String(neuron * (machine.neuronDevices[0]?.CoreInfo.Count ?? 0));
  }
  const efa = machine.interfaces.filter(({ InterfaceType }) => InterfaceType?.startsWith('efa')).length;
  if (efa > 0) found['vpc.amazonaws.com/efa'] = String(efa);
  return found;
}

/** As the bootstrap programs of EKS reckon it. */
function defaultReserved(vcpus: number, pods: number): Record<string, string> {
  const shares = [60, 10, 5, 5];
  let cpu = 0;
  for (let core = 0; core < vcpus; core++) cpu += shares[core] ?? 2.5;
  return { cpu: `${Math.floor(cpu)}m`, memory: `${11 * pods + 255}Mi`, 'ephemeral-storage': '1Gi' };
}

function share(threshold: string | undefined, total: number): number {
  if (threshold === undefined) return 0;
  return threshold.endsWith('%') ? (total * Number(threshold.slice(0, -1))) / 100 : quantity(threshold);
}

const SUFFIXES: Readonly<Record<string, number>> = {
  '': 1,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 1024,
  Mi: MIB,
  Gi: GIB,
  Ti: 1024 * GIB,
};

function quantity(text: string): number {
  const [, number = '', suffix = ''] = /^([0-9.]+)([a-zA-Z]*)$/.exec(text) ?? [];
  const factor = SUFFIXES[suffix];
  if (number === '' || factor === undefined) throw new Error(`${text} is no quantity`);
  return Number(number) * factor;
}
