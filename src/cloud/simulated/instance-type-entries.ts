/** Instance types in the file format of packing problems, so that one catalogue serves planning and benchmarks. */
import type { InstanceType } from '../../engine/problem.ts';
import { FieldReader, fieldError } from './field-reader.ts';

/** An offering of an instance type. */
export interface OfferingEntry {
  readonly Zone: string;
  readonly CT: 'on-demand' | 'spot';
  readonly Price: number;
}

/** A machine shape; allocatable is capacity minus overhead. */
export interface InstanceTypeEntry {
  readonly Name: string;
  readonly Arch: string;
  readonly CPUm: number;
  readonly MemMi: number;
  readonly Pods: number;
  readonly GPU: number;
  readonly OvCPUm: number;
  readonly OvMi: number;
  readonly Labels: Readonly<Record<string, string>>;
  readonly Offerings: readonly OfferingEntry[];
}

const GPU = 'nvidia.com/gpu';
const MIB = 1024 * 1024;

/** Parses the field `InstanceTypes` of a file; errors name the object and the field. */
export function parseInstanceTypes(json: unknown, file = 'the catalogue'): InstanceTypeEntry[] {
  const entries = new FieldReader(json, file).list('InstanceTypes').map(parseEntry);
  if (entries.length === 0) throw fieldError(file, 'InstanceTypes', 'must not be empty');
  const seen = new Set<string>();
  for (const { Name } of entries) {
    if (seen.has(Name)) throw fieldError(`instance type ${Name}`, 'Name', 'must be unique in the file');
    seen.add(Name);
  }
  return entries;
}

/** Converts an entry to an instance type of the engine. */
export function toInstanceType(entry: InstanceTypeEntry): InstanceType {
  return {
    name: entry.Name,
    labels: { 'kubernetes.io/arch': entry.Arch, 'kubernetes.io/os': 'linux', ...entry.Labels },
    capacity: {
      cpu: entry.CPUm,
      memory: entry.MemMi * MIB,
      pods: entry.Pods,
      ...(entry.GPU > 0 ? { [GPU]: entry.GPU } : {}),
    },
    overhead: { cpu: entry.OvCPUm, memory: entry.OvMi * MIB },
    offerings: entry.Offerings.map(({ Zone, CT, Price }) => ({ zone: Zone, capacityType: CT, price: Price })),
  };
}

function parseEntry(json: unknown, index: number): InstanceTypeEntry {
  const Name = new FieldReader(json, `InstanceTypes[${index}]`).text('Name');
  const read = new FieldReader(json, `instance type ${Name}`);
  return {
    Name,
    Arch: read.text('Arch'),
    CPUm: read.amount('CPUm'),
    MemMi: read.amount('MemMi'),
    Pods: read.amount('Pods'),
    GPU: read.amount('GPU'),
    OvCPUm: read.amount('OvCPUm'),
    OvMi: read.amount('OvMi'),
    Labels: read.labels('Labels') ?? {},
    Offerings: read.list('Offerings').map((offering, place) => {
      const field = new FieldReader(offering, `instance type ${Name}, Offerings[${place}]`);
      return { Zone: field.text('Zone'), CT: field.oneOf('CT', ['on-demand', 'spot']), Price: field.price('Price') };
    }),
  };
}
