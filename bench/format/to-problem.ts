/** The exchange format as the engine's own question, and the engine's answer as the format's. */
import type { InstanceType, PodAffinityTerm, PodGroup, Problem, TopologySpread } from '../../src/engine/problem.ts';
import type { Solution } from '../../src/engine/solution.ts';
import type { InstanceTypeEntry, Labels, PodGroup as PodGroupEntry, ProblemFile } from './problem-file.ts';

const ZONE = 'topology.kubernetes.io/zone';
const HOSTNAME = 'kubernetes.io/hostname';
const GPU = 'nvidia.com/gpu';
const MIB = 1024 * 1024;

/** The problem of a file: one pool without conditions, an empty cluster. */
export function toProblem(file: ProblemFile): Problem {
  return {
    pools: [{ name: 'default' }],
    instanceTypes: file.InstanceTypes.map(toInstanceType),
    pods: file.Pods.filter((group) => group.Count > 0).map(toPodGroup),
  };
}

function toInstanceType(entry: InstanceTypeEntry): InstanceType {
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

function toPodGroup(entry: PodGroupEntry, index: number): PodGroup {
  const selector = Object.entries(entry.NodeSelector);
  const spreads = [
    ...(entry.SpreadZone === undefined ? [] : [spread(ZONE, entry.SpreadZone)]),
    ...(entry.SpreadHost === undefined ? [] : [spread(HOSTNAME, entry.SpreadHost)]),
  ];
  return {
    name: `group-${index}`,
    namespace: 'default',
    count: entry.Count,
    labels: entry.Labels,
    requests: { cpu: entry.CPUm, memory: entry.MemMi * MIB, ...(entry.GPU > 0 ? { [GPU]: entry.GPU } : {}) },
    ...(selector.length === 0
      ? {}
      : { requirements: [selector.map(([key, value]) => ({ key, operator: 'In' as const, values: [value] }))] }),
    ...(spreads.length === 0 ? {} : { topologySpread: spreads }),
    ...(entry.AffZone === undefined ? {} : { podAffinity: [term(ZONE, entry.AffZone)] }),
    ...(entry.AntiHost === undefined ? {} : { podAntiAffinity: [term(HOSTNAME, entry.AntiHost)] }),
  };
}

function spread(topologyKey: string, matchLabels: Labels): TopologySpread {
  return { topologyKey, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule', selector: { matchLabels } };
}

function term(topologyKey: string, matchLabels: Labels): PodAffinityTerm {
  return { topologyKey, selector: { matchLabels } };
}

/** A plan in the exchange format. */
export interface SolutionFile {
  readonly nodes: readonly {
    readonly instanceType: string;
    readonly zone: string;
    readonly capacityType: string;
    readonly price: number;
    readonly pods: readonly number[];
  }[];
  readonly unscheduled: readonly number[];
  readonly order: readonly number[];
}

/** The engine's plan in the exchange format; pod numbers are the same in both. */
export function toSolutionFile(solution: Solution): SolutionFile {
  return {
    nodes: solution.newNodes.map(({ offerings, price, pods }) => ({
      instanceType: offerings[0]?.instanceType ?? '',
      zone: offerings[0]?.zone ?? '',
      capacityType: offerings[0]?.capacityType ?? '',
      price,
      pods,
    })),
    unscheduled: solution.unplaced.flatMap((entry) => entry.pods),
    order: solution.order,
  };
}
