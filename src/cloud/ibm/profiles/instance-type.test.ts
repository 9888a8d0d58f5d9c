import { describe, expect, it } from 'vitest';
import type { VpcProfile } from '../api/vpc-types.ts';
import { capacityTypeOf, capacityTypesOf } from './capacity-types.ts';
import { type InstanceTypeSettings, instanceTypeOf } from './instance-type.ts';
import { machineShape } from './machine-shape.ts';
import { fieldValue, fieldValues } from './profile-field.ts';

const GIB = 2 ** 30;

function profile(changes: Partial<VpcProfile> = {}): VpcProfile {
  return {
    name: 'bxf-4x16',
    vcpu_count: { type: 'fixed', value: 4 },
    memory: { type: 'fixed', value: 16 },
    vcpu_architecture: { value: 'amd64' },
    availability_class: { type: 'enum', values: ['standard', 'spot'], default: 'standard' },
    ...changes,
  };
}

const SETTINGS: InstanceTypeSettings = {
  region: 'us-south',
  zones: ['us-south-1', 'us-south-2'],
  spec: {},
  price: (_, capacityType) => (capacityType === 'spot' ? 0.12 : 0.2),
  memoryOverhead: 0.05,
  capacityTypes: ['spot', 'on-demand'],
};

function typeOf(changes: Partial<VpcProfile> = {}, settings: Partial<InstanceTypeSettings> = {}) {
  const shape = machineShape(profile(changes));
  return shape === undefined ? undefined : instanceTypeOf(shape, { ...SETTINGS, ...settings });
}

describe('fields of profiles', () => {
  it('are read by their type: fixed, enum, range, and dependent, which says nothing', () => {
    expect(fieldValue({ type: 'fixed', value: 4 })).toBe(4);
    expect(fieldValue({ type: 'enum', values: [1, 2, 4], default: 2 })).toBe(2);
    expect(fieldValue({ type: 'enum', values: [1, 2] })).toBe(1);
    expect(fieldValue({ type: 'range', min: 2, max: 8, step: 2, default: 4 })).toBe(4);
    expect(fieldValue({ type: 'range', min: 2, max: 8 })).toBe(2);
    expect(fieldValue({ type: 'dependent' })).toBeUndefined();
    expect(fieldValues({ type: 'fixed', value: 'spot' })).toEqual(['spot']);
    expect(fieldValues({ type: 'dependent' })).toEqual([]);
    expect(machineShape(profile({ memory: { type: 'dependent' } }))).toBeUndefined();
  });
});

describe('capacity types', () => {
  it('follow from the availability class of the profile, never from its name', () => {
    expect(capacityTypesOf({ type: 'enum', values: ['standard', 'spot'] })).toEqual(['on-demand', 'spot']);
    expect(capacityTypesOf({ type: 'fixed', value: 'standard' })).toEqual(['on-demand']);
    expect(capacityTypesOf({ type: 'fixed', value: 'spot' })).toEqual(['spot']);
    expect(capacityTypesOf(undefined)).toEqual(['on-demand']);
    expect(capacityTypesOf({ type: 'dependent' })).toEqual(['on-demand']);
  });

  it('of a machine are spot for spot, and on-demand for everything else', () => {
    expect(['spot', 'standard', 'anything', undefined].map(capacityTypeOf)).toEqual([
      'spot',
      'on-demand',
      'on-demand',
      'on-demand',
    ]);
  });
});

describe('instanceTypeOf', () => {
  it('has one offering for each zone and capacity type', () => {
    expect(typeOf()?.offerings).toEqual([
      { zone: 'us-south-1', capacityType: 'on-demand', price: 0.2 },
      { zone: 'us-south-1', capacityType: 'spot', price: 0.12 },
      { zone: 'us-south-2', capacityType: 'on-demand', price: 0.2 },
      { zone: 'us-south-2', capacityType: 'spot', price: 0.12 },
    ]);
  });

  it('is sold only in zones where the profile is, and only at a price that is known', () => {
    const zones = [{ name: 'us-south-2' }, { name: 'us-south-3' }];
    expect(typeOf({ zones })?.offerings.map(({ zone }) => zone)).toEqual(['us-south-2', 'us-south-2']);
    expect(typeOf({}, { price: () => undefined })).toBeUndefined();
    expect(typeOf({}, { capacityTypes: ['on-demand'] })?.offerings).toHaveLength(2);
  });

  it('has labels for what a pool may ask for', () => {
    expect(typeOf()?.labels).toEqual({
      'kubernetes.io/arch': 'amd64',
      'kubernetes.io/os': 'linux',
      'topology.kubernetes.io/region': 'us-south',
      'karpenter-ibm.sh/instance-family': 'bxf',
      'karpenter-ibm.sh/instance-size': '4x16',
      'karpenter-ibm.sh/instance-cpu': '4',
      'karpenter-ibm.sh/instance-memory': '16384',
    });
    expect(typeOf({ name: 'bz2-4x16', vcpu_architecture: { value: 's390x' } })?.labels).toMatchObject({
      'kubernetes.io/arch': 's390x',
      'karpenter-ibm.sh/instance-generation': '2',
    });
  });

  it('has GPUs under the resource of their maker', () => {
    const gpus = (maker: string, model: string) =>
      typeOf({
        name: 'gx3-16x80x2',
        gpu_count: { type: 'fixed', value: 2 },
        gpu_manufacturer: { values: [maker] },
        gpu_model: { values: [model] },
        gpu_memory: { type: 'fixed', value: 48 },
      });
    expect(gpus('nvidia', 'l4')?.capacity['nvidia.com/gpu']).toBe(2);
    expect(gpus('amd', 'mi300x')?.capacity['amd.com/gpu']).toBe(2);
    expect(gpus('intel', 'gaudi3')?.capacity['habana.ai/gaudi']).toBe(2);
    expect(gpus('nvidia', 'l4')?.labels).toMatchObject({
      'karpenter-ibm.sh/instance-gpu-count': '2',
      'karpenter-ibm.sh/instance-gpu-name': 'l4',
      'karpenter-ibm.sh/instance-gpu-memory': '24576',
    });
  });

  it('has ephemeral storage from the boot volume, and the guest’s memory, learned or estimated', () => {
    expect(typeOf()?.capacity).toEqual({
      cpu: 4000,
      memory: Math.floor(16 * 1024 * 0.95) * 2 ** 20,
      'ephemeral-storage': 100e9,
      pods: 110,
    });
    const spec = {
      blockDeviceMappings: [{ rootVolume: true, volumeSpec: { capacity: 200, deleteOnTermination: true } }],
      kubelet: { maxPods: 50 },
    };
    const learned = typeOf({}, { spec, learnedMemory: () => 15.5 * GIB });
    expect(learned?.capacity).toMatchObject({ memory: 15.5 * GIB, 'ephemeral-storage': 200e9, pods: 50 });
  });

  it('keeps back what the kubelet is told to keep back', () => {
    const kubelet = {
      kubeReserved: { cpu: '200m', memory: '1Gi', 'ephemeral-storage': '2Gi' },
      systemReserved: { cpu: '100m', memory: '512Mi' },
      evictionHard: { 'memory.available': '5%', 'nodefs.available': '10Gi' },
    };
    const type = typeOf({}, { spec: { kubelet }, learnedMemory: () => 10 * GIB });
    expect(type?.overhead).toEqual({ cpu: 300, memory: 1.5 * GIB + 0.5 * GIB, 'ephemeral-storage': 12 * GIB });
    expect(typeOf({}, { spec: { kubelet: { podsPerCore: 10 } } })?.capacity.pods).toBe(40);
  });
});
