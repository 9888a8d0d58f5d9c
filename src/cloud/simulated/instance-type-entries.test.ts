import { describe, expect, it } from 'vitest';
import { parseInstanceTypes, toInstanceType } from './instance-type-entries.ts';

const ENTRY = {
  Name: 'g5.xlarge',
  Arch: 'amd64',
  CPUm: 4000,
  MemMi: 1024,
  Pods: 58,
  GPU: 1,
  OvCPUm: 100,
  OvMi: 64,
  Labels: { family: 'g5' },
  Offerings: [{ Zone: 'a', CT: 'spot', Price: 0.4 }],
};
const MIB = 1024 * 1024;

describe('a file of instance types', () => {
  it('is read into what the engine and the simulated cloud know', () => {
    expect(parseInstanceTypes({ InstanceTypes: [ENTRY], Pods: [] }).map(toInstanceType)).toEqual([
      {
        name: 'g5.xlarge',
        labels: { 'kubernetes.io/arch': 'amd64', 'kubernetes.io/os': 'linux', family: 'g5' },
        capacity: { cpu: 4000, memory: 1024 * MIB, pods: 58, 'nvidia.com/gpu': 1 },
        overhead: { cpu: 100, memory: 64 * MIB },
        offerings: [{ zone: 'a', capacityType: 'spot', price: 0.4 }],
      },
    ]);
  });

  it('may leave out numbers that are 0, labels and offerings', () => {
    expect(parseInstanceTypes({ InstanceTypes: [{ Name: 'x', Arch: 'arm64', CPUm: 1 }] })).toEqual([
      { Name: 'x', Arch: 'arm64', CPUm: 1, MemMi: 0, Pods: 0, GPU: 0, OvCPUm: 0, OvMi: 0, Labels: {}, Offerings: [] },
    ]);
  });

  it.each([
    ['is not an object', [], 'the catalogue: itself must be an object, not []'],
    ['has none', {}, 'the catalogue: InstanceTypes must not be empty'],
    ['names one twice', { InstanceTypes: [ENTRY, ENTRY] }, 'instance type g5.xlarge: Name must be unique in the file'],
    ['has one without a name', { InstanceTypes: [{}] }, 'InstanceTypes[0]: Name must be a text that is not empty'],
    [
      'has a number that is none',
      { InstanceTypes: [{ ...ENTRY, CPUm: '4' }] },
      'instance type g5.xlarge: CPUm must be a whole number of at least 0, not "4"',
    ],
    [
      'has a capacity type that does not exist',
      { InstanceTypes: [{ ...ENTRY, Offerings: [{ Zone: 'a', CT: 'Spot', Price: 1 }] }] },
      'instance type g5.xlarge, Offerings[0]: CT must be on-demand or spot, not "Spot"',
    ],
    [
      'has a label that is no text',
      { InstanceTypes: [{ ...ENTRY, Labels: { a: 1 } }] },
      'instance type g5.xlarge: Labels.a must be a text, not 1',
    ],
  ])('that %s is refused with the place and the reason', (_, json, message) => {
    expect(() => parseInstanceTypes(json)).toThrow(message);
  });
});
