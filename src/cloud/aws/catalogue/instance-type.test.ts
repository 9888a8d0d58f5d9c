import { expect, test } from 'vitest';
import type { Ec2NodeClassSpec } from '../../../apis/aws/ec2-node-class.ts';
import { instanceType, reservedCpu, type TypeSettings } from './instance-type.ts';
import type { Shape } from './shape.ts';

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;

const M5_LARGE: Shape = {
  name: 'm5.large',
  arch: 'amd64',
  vcpus: 2,
  memoryMib: 8192,
  cards: [3],
  defaultCard: 0,
  addressesPerInterface: 10,
  efas: 0,
  ena: true,
  encryptionInTransit: false,
  spot: true,
  onDemand: true,
  hypervisor: 'nitro',
  cpuManufacturer: 'Intel',
  clockMhz: 3100,
  ebsMbps: 4750,
  networkMbps: 750,
};
const P4D: Shape = {
  ...M5_LARGE,
  name: 'p4d.24xlarge',
  vcpus: 96,
  memoryMib: 1_179_648,
  cards: [15, 15, 15, 15],
  addressesPerInterface: 50,
  efas: 4,
  localGb: 8000,
  localNvme: true,
  gpus: [{ name: 'A100', manufacturer: 'NVIDIA', count: 8, memoryMib: 40_960 }],
};

function settings(spec: Partial<Ec2NodeClassSpec> = {}): TypeSettings {
  const whole = { amiSelectorTerms: [{ alias: 'al2023@latest' }], ...spec } as Ec2NodeClassSpec;
  return { region: 'us-east-1', spec: whole, memoryOverhead: 0.075, reservedInterfaces: 0 };
}

const resolved = (shape: Shape, of: TypeSettings = settings()) => instanceType(shape, [], of);

test('an m5.large of AL2023 has what Karpenter says it has', () => {
  const { capacity, overhead, labels } = resolved(M5_LARGE) ?? {};
  expect(capacity).toEqual({
    cpu: 2000,
    memory: (8192 - 615) * MIB,
    'ephemeral-storage': 20 * GIB,
    pods: 29,
    'vpc.amazonaws.com/pod-eni': 8,
  });
  expect(overhead).toEqual({
    cpu: 70,
    memory: (255 + 11 * 29 + 100) * MIB,
    'ephemeral-storage': GIB + 2 * GIB,
  });
  expect(labels).toMatchObject({
    'karpenter.k8s.aws/instance-category': 'm',
    'karpenter.k8s.aws/instance-generation': '5',
    'karpenter.k8s.aws/instance-family': 'm5',
    'karpenter.k8s.aws/instance-size': 'large',
    'karpenter.k8s.aws/instance-cpu': '2',
    'karpenter.k8s.aws/instance-memory': '8192',
    'karpenter.k8s.aws/instance-cpu-manufacturer': 'intel',
    'karpenter.k8s.aws/instance-capability-flex': 'false',
    'kubernetes.io/arch': 'amd64',
    'kubernetes.io/os': 'linux',
    'topology.kubernetes.io/region': 'us-east-1',
  });
  expect(labels).not.toHaveProperty('karpenter.k8s.aws/instance-gpu-name');
});

test('a GPU machine has its GPUs, its interfaces for memory, and only the pods of its default card', () => {
  const { capacity, labels } = resolved(P4D) ?? {};
  expect(capacity).toMatchObject({ 'nvidia.com/gpu': 8, 'vpc.amazonaws.com/efa': 4, pods: 15 * 49 + 2 });
  expect(labels).toMatchObject({
    'karpenter.k8s.aws/instance-gpu-name': 'a100',
    'karpenter.k8s.aws/instance-gpu-manufacturer': 'nvidia',
    'karpenter.k8s.aws/instance-gpu-count': '8',
    'karpenter.k8s.aws/instance-gpu-memory': '40960',
    'karpenter.k8s.aws/instance-local-nvme': '8000',
  });
});

test('local disks count where they are joined, a root volume before the device of the family', () => {
  expect(resolved(P4D, settings({ instanceStorePolicy: 'RAID0' }))?.capacity['ephemeral-storage']).toBe(8000e9);
  const blockDeviceMappings = [
    { deviceName: '/dev/xvda', ebs: { volumeSize: '30Gi' } },
    { deviceName: '/dev/xvdz', rootVolume: true, ebs: { volumeSize: '100Gi' } },
  ];
  expect(resolved(M5_LARGE, settings({ blockDeviceMappings }))?.capacity['ephemeral-storage']).toBe(100 * GIB);
  expect(
    resolved(M5_LARGE, settings({ blockDeviceMappings: blockDeviceMappings.slice(0, 1) }))?.capacity[
      'ephemeral-storage'
    ],
  ).toBe(30 * GIB);
});

test('settings of the kubelet change pods and what is kept; what kubelet keeps is counted from the interfaces all the same', () => {
  const kubelet = {
    maxPods: 110,
    kubeReserved: { cpu: '500m' },
    systemReserved: { memory: '1Gi' },
    evictionHard: { 'memory.available': '10%', 'nodefs.available': '100%' },
  };
  const { capacity, overhead } = resolved(M5_LARGE, settings({ kubelet })) ?? {};
  expect(capacity?.pods).toBe(110);
  expect(overhead).toEqual({
    cpu: 500,
    memory: (255 + 11 * 29) * MIB + GIB + Math.ceil(((capacity?.memory ?? 0) / 100) * 10),
    'ephemeral-storage': GIB,
  });
  expect(resolved(M5_LARGE, settings({ kubelet: { podsPerCore: 4 } }))?.capacity.pods).toBe(8);
});

test('Bottlerocket knows no pods per core, and keeps memory for the pods it may have', () => {
  const spec = { amiSelectorTerms: [{ alias: 'bottlerocket@latest' }], kubelet: { maxPods: 10, podsPerCore: 1 } };
  const { capacity, overhead } = resolved(M5_LARGE, settings(spec)) ?? {};
  expect(capacity?.pods).toBe(10);
  expect(overhead?.memory).toBe((255 + 110 + 100) * MIB);
});

test('Windows runs on amd64 only, with addresses of its own', () => {
  const windows = settings({ amiSelectorTerms: [{ alias: 'windows2022@latest' }] });
  expect(resolved({ ...M5_LARGE, arch: 'arm64' }, windows)).toBeUndefined();
  const type = resolved(M5_LARGE, windows);
  expect(type?.capacity).toMatchObject({ pods: 110, 'vpc.amazonaws.com/PrivateIPv4Address': 9 });
  expect(type?.labels?.['node.kubernetes.io/windows-build']).toBe('10.0.20348');
});

test('memory that was seen on nodes counts more than what is foreseen', () => {
  const seen = { ...settings(), learnedMemory: () => 7_900_000_000 };
  expect(resolved(M5_LARGE, seen)?.capacity.memory).toBe(7_900_000_000);
});

test.each([
  [1, 60],
  [2, 70],
  [4, 80],
  [8, 90],
  [96, 310],
])('of %i vCPUs, %i millicores are kept', (vcpus, kept) => {
  expect(reservedCpu(vcpus)).toBe(kept);
});

test('what a category is called is read from the name', () => {
  const labels = (name: string) => resolved({ ...M5_LARGE, name })?.labels ?? {};
  expect(labels('u-6tb1.metal')).toMatchObject({
    'karpenter.k8s.aws/instance-category': 'u',
    'karpenter.k8s.aws/instance-generation': '1',
  });
  expect(labels('m7i-flex.large')).toMatchObject({ 'karpenter.k8s.aws/instance-capability-flex': 'true' });
});
