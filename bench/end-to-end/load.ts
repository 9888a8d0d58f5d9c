/** The load that is given to an autoscaler: services of mixed sizes, three of them spread over zones. */
import type { Deployment } from '../../src/apis/kubernetes/workloads.ts';
import type { InstanceTypeEntry } from '../../src/cloud/simulated/instance-type-entries.ts';
import type { PodGroup, ProblemFile } from '../format/problem-file.ts';

const ZONE = 'topology.kubernetes.io/zone';

/** How many pods there are, and on how large nodes. */
export interface Load {
  readonly name: string;
  readonly pods: number;
  /** No node may have more CPUs than this; any number when absent. */
  readonly largestCpu?: number;
}

export const LOADS: readonly Load[] = [
  { name: '1000', pods: 1000 },
  { name: '3000', pods: 3000, largestCpu: 32 },
];

interface Service {
  readonly name: string;
  readonly milliCpu: number;
  readonly memoryMib: number;
  readonly spread?: boolean;
}

const SERVICES: readonly Service[] = [
  { name: 'sidekick', milliCpu: 100, memoryMib: 256 },
  { name: 'worker', milliCpu: 250, memoryMib: 512 },
  { name: 'web', milliCpu: 500, memoryMib: 1024, spread: true },
  { name: 'cache', milliCpu: 500, memoryMib: 4096 },
  { name: 'api', milliCpu: 1000, memoryMib: 2048, spread: true },
  { name: 'store', milliCpu: 1000, memoryMib: 8192, spread: true },
  { name: 'encoder', milliCpu: 2000, memoryMib: 4096 },
  { name: 'database', milliCpu: 4000, memoryMib: 16_384 },
];

/** How many pods each Deployment has when there are so many in all. */
export function replicasOf(pods: number): ReadonlyMap<string, number> {
  return new Map(SERVICES.map(({ name }) => [name, Math.round(pods / SERVICES.length)]));
}

/** The Deployments of a load. */
export function deployments(pods: number): Deployment[] {
  const replicas = replicasOf(pods);
  return SERVICES.map(({ name, milliCpu, memoryMib, spread }) => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'default' },
    spec: {
      replicas: replicas.get(name) ?? 0,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: {
          containers: [
            {
              name: 'main',
              image: 'registry.example/team/service:1.2.3',
              resources: { requests: { cpu: `${milliCpu}m`, memory: `${memoryMib}Mi` } },
            },
          ],
          ...(spread === true ? { topologySpreadConstraints: [zoneSpread(name)] } : {}),
        },
      },
    },
  }));
}

function zoneSpread(app: string) {
  const labelSelector = { matchLabels: { app } };
  return { topologyKey: ZONE, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule', labelSelector } as const;
}

/** The same load as a packing problem, of which the price has a lower bound. */
export function problemOf(pods: number, load: Load, types: readonly InstanceTypeEntry[]): ProblemFile {
  const replicas = replicasOf(pods);
  const largest = (load.largestCpu ?? Number.POSITIVE_INFINITY) * 1000;
  return {
    InstanceTypes: types.filter(({ CPUm }) => CPUm <= largest),
    Pods: SERVICES.map(
      ({ name, milliCpu, memoryMib, spread }): PodGroup => ({
        Count: replicas.get(name) ?? 0,
        CPUm: milliCpu,
        MemMi: memoryMib,
        GPU: 0,
        Labels: { app: name },
        NodeSelector: {},
        ...(spread === true ? { SpreadZone: { app: name } } : {}),
      }),
    ),
  };
}
