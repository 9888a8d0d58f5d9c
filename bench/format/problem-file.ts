/**
 * The exchange format of packing problems: one JSON file with a catalogue of instance types and a list of pending pods,
 * for an empty cluster with one node pool that asks for nothing. Every solver can read it, so that plans can be compared.
 */
import { FieldReader } from '../../src/cloud/simulated/field-reader.ts';
import { type InstanceTypeEntry, parseInstanceTypes } from '../../src/cloud/simulated/instance-type-entries.ts';
import { readJson } from '../../src/cloud/simulated/read-instance-types.ts';

/** Labels, or the labels a selector asks for. */
export type Labels = Readonly<Record<string, string>>;

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
  return parseProblemFile(readJson(path));
}

/** Checks every field of a parsed problem; the error names the object and the field. */
export function parseProblemFile(json: unknown): ProblemFile {
  const name = 'the problem';
  const pods = new FieldReader(json, name).list('Pods');
  return { InstanceTypes: parseInstanceTypes(json, name), Pods: pods.map(podGroup) };
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
