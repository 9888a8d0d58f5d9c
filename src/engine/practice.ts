/**
 * Made-up problems for the warm-up: pods of every common kind, machines in many sizes. The objects have many shapes
 * (different keys, in different order), like those of real problems. Code that has only seen one shape is optimized for
 * it, and compiled again when the first real problem has another.
 */
import type { InstanceType, Labels, Offering, PodGroup, Pool, Problem, Resources, TopologySpread } from './problem.ts';

const GIB = 1024 ** 3;
const ZONE = 'topology.kubernetes.io/zone';
const HOSTNAME = 'kubernetes.io/hostname';

/** A problem with this many pods on the given types; a different one for each round. */
export function practiceProblem(round: number, pods: number, instanceTypes: readonly InstanceType[]): Problem {
  return shaped(round, {
    pods: Array.from({ length: pods }, (_, index) => practicePod(index, round)),
    pools: [practicePool(round)],
    instanceTypes,
  });
}

/** Instance types; spot costs the same as on-demand, or less if `cheapSpot`. */
export function practiceTypes(count: number, cheapSpot: boolean): InstanceType[] {
  return Array.from({ length: count }, (_, index) => practiceType(index, cheapSpot));
}

/** Copies an object into one of several shapes. */
function shaped<T extends object>(turn: number, object: T): T {
  return Object.fromEntries([[`practice${turn % 7}`, turn], ...Object.entries(object)]) as T;
}

function practicePool(round: number): Pool {
  const pool: Pool = { name: 'practice' };
  if (round % 3 !== 1) return shaped(round, pool);
  return shaped(round, {
    ...pool,
    requirements: [shaped(round, { key: 'kubernetes.io/arch', operator: 'In' as const, values: ['amd64', 'arm64'] })],
    labels: { team: 'practice' },
  });
}

function practicePod(index: number, round: number): PodGroup {
  const app = `app-${(index * 5 + round) % 7}`;
  const matchLabels: Labels = round % 2 === 0 ? { app } : { 'my-label': app };
  const turn = index + round;
  const pod: PodGroup = {
    name: `practice-${index}`,
    namespace: 'practice',
    labels: matchLabels,
    requests: practiceRequests(index, round),
    ...(round % 2 === 0 ? {} : { count: 1 + (index % 2) }),
  };
  const topologySpread = (topologyKey: string): readonly TopologySpread[] => [
    shaped(turn, {
      topologyKey,
      maxSkew: 1,
      whenUnsatisfiable: 'DoNotSchedule' as const,
      selector: shaped(turn, { matchLabels }),
    }),
  ];
  const terms = (topologyKey: string) => [shaped(turn, { topologyKey, selector: shaped(turn, { matchLabels }) })];
  // Every third problem has no topology rules.
  switch (round % 3 === 2 ? 0 : index % 6) {
    case 1:
      return shaped(turn, { ...pod, topologySpread: topologySpread(ZONE) });
    case 2:
      return shaped(turn, { ...pod, topologySpread: topologySpread(HOSTNAME) });
    case 3:
      return shaped(turn, { ...pod, podAffinity: terms(ZONE) });
    case 4:
      return shaped(turn, { ...pod, podAntiAffinity: terms(HOSTNAME) });
    default:
      return shaped(turn, pod);
  }
}

function practiceRequests(index: number, round: number): Resources {
  const cpu = [100, 250, 500, 1000, 1500][(index * 7 + round) % 5] as number;
  const memory = (([1, 2, 4, 8, 16, 32][(index * 3 + (index >> 4)) % 6] as number) * GIB) / 8;
  return round % 4 === 3 ? { memory, cpu } : { cpu, memory };
}

function practiceType(index: number, cheapSpot: boolean): InstanceType {
  const cores = 1 + (index % 60);
  const gibPerCore = [2, 4, 8, 2][index % 4] as number;
  const price = cores * (0.03 + 0.004 * gibPerCore) * (1 + (index % 9) / 50);
  return shaped(index, {
    name: `practice-${index}`,
    labels: shaped(index, { 'kubernetes.io/arch': 'amd64', generation: String(index % 9) }),
    capacity: { cpu: cores * 1000, memory: cores * gibPerCore * GIB, pods: 8 + 10 * cores },
    overhead: { cpu: 90, memory: GIB / 4 },
    offerings: practiceOfferings(price, cheapSpot, index),
  });
}

function practiceOfferings(price: number, cheapSpot: boolean, turn: number): readonly Offering[] {
  const offerings: Offering[] = [];
  for (const zone of ['a', 'b', 'c']) {
    offerings.push(shaped(turn + offerings.length, { zone, capacityType: 'on-demand', price }));
    if (zone === 'c' && !cheapSpot) continue;
    const spot = cheapSpot ? price * 0.35 : price;
    offerings.push(shaped(turn + offerings.length, { zone, capacityType: 'spot', price: spot }));
  }
  // To the runtime, an array made by `map` is of another kind.
  return turn % 2 === 0 ? offerings : offerings.map((offering) => offering);
}
