/**
 * The exchange format of packing problems: one JSON file with a catalogue of instance types and a list of pending pods,
 * for an empty cluster with one node pool that asks for nothing. Every solver can read it, so that plans can be compared.
 */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { FieldReader, problemFileError } from './field-reader.ts';

/** Labels, or the labels a selector asks for. */
export type Labels = Readonly<Record<string, string>>;

/** A place to buy an instance type. */
export interface OfferingEntry {
  readonly Zone: string;
  readonly CT: 'on-demand' | 'spot';
  readonly Price: number;
}

/** A machine shape; allocatable is capacity less overhead. */
export interface InstanceTypeEntry {
  readonly Name: string;
  readonly Arch: string;
  readonly CPUm: number;
  readonly MemMi: number;
  readonly Pods: number;
  readonly GPU: number;
  readonly OvCPUm: number;
  readonly OvMi: number;
  readonly Labels: Labels;
  readonly Offerings: readonly OfferingEntry[];
}

/** `Count` pods that are alike; every constraint is required. */
export interface PodGroup {
  readonly Count: number;
  readonly CPUm: number;
  readonly MemMi: number;
  readonly GPU: number;
  readonly Labels: Labels;
  readonly NodeSelector: Labels;
  readonly SpreadZone?: Labels;
  readonly SpreadHost?: Labels;
  readonly AffZone?: Labels;
  readonly AntiHost?: Labels;
}

/** A whole problem. */
export interface ProblemFile {
  readonly InstanceTypes: readonly InstanceTypeEntry[];
  readonly Pods: readonly PodGroup[];
}

/** Reads a problem from a file; a name that ends in `.gz` is unpacked first. */
export function readProblemFile(path: string): ProblemFile {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
    if (path.endsWith('.gz')) bytes = gunzipSync(bytes);
  } catch (error) {
    throw problemFileError(path, 'cannot be read', (error as Error).message);
  }
  let json: unknown;
  try {
    json = JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw problemFileError(path, 'is not JSON', (error as Error).message);
  }
  return parseProblemFile(json);
}

/** Checks every field of a parsed problem; the error names the object and the field. */
export function parseProblemFile(json: unknown): ProblemFile {
  const root = new FieldReader(json, 'the problem');
  const InstanceTypes = root.list('InstanceTypes').map(instanceType);
  if (InstanceTypes.length === 0) throw problemFileError('the problem', 'InstanceTypes', 'must not be empty');
  const seen = new Set<string>();
  for (const { Name } of InstanceTypes) {
    if (seen.has(Name)) throw problemFileError(`instance type ${Name}`, 'Name', 'must be unique in the file');
    seen.add(Name);
  }
  return { InstanceTypes, Pods: root.list('Pods').map(podGroup) };
}

function instanceType(json: unknown, index: number): InstanceTypeEntry {
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

function podGroup(json: unknown, index: number): PodGroup {
  const read = new FieldReader(json, `Pods[${index}]`);
  const optional = (name: 'SpreadZone' | 'SpreadHost' | 'AffZone' | 'AntiHost') => {
    const labels = read.labels(name);
    return labels === undefined ? {} : { [name]: labels };
  };
  return {
    Count: read.amount('Count'),
    CPUm: read.amount('CPUm'),
    MemMi: read.amount('MemMi'),
    GPU: read.amount('GPU'),
    Labels: read.labels('Labels') ?? {},
    NodeSelector: read.labels('NodeSelector') ?? {},
    ...optional('SpreadZone'),
    ...optional('SpreadHost'),
    ...optional('AffZone'),
    ...optional('AntiHost'),
  };
}
