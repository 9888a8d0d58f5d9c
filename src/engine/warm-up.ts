/**
 * Runs the engine on a made-up problem, so that the runtime has compiled it before the first real decision is due. A
 * fresh process solves its first problem several times slower than its second.
 */
import type { InstanceType, PodGroup, Problem, TopologySpread } from './problem.ts';
import { solve } from './solve.ts';

const GIB = 1024 ** 3;
const ROUNDS = 20;

/** Solves a small problem with every common kind of constraint a few times; takes a fraction of a second. */
export function warmUp(rounds = ROUNDS): void {
  for (let round = 0; round < rounds; round++) solve(practice(round), { quality: 'fast' });
  solve(practice(rounds), { maxSteps: 300_000 });
}

function practice(round: number): Problem {
  return {
    pods: Array.from({ length: 600 }, (_, index) => practicePod(index, round)),
    pools: [{ name: 'practice' }],
    instanceTypes: Array.from({ length: 240 }, (_, index) => practiceType(index)),
  };
}

function practicePod(index: number, round: number): PodGroup {
  const app = `app-${(index + round) % 7}`;
  const matchLabels = { app };
  const pod: PodGroup = {
    name: `practice-${index}`,
    namespace: 'practice',
    labels: { app },
    requests: {
      cpu: [100, 250, 500, 1000, 1500][index % 5] as number,
      memory: (([1, 2, 4, 8, 16, 32][(index + round) % 6] as number) * GIB) / 8,
    },
  };
  const topologySpread = (topologyKey: string): readonly TopologySpread[] => [
    { topologyKey, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule', selector: { matchLabels } },
  ];
  switch (index % 6) {
    case 1:
      return { ...pod, topologySpread: topologySpread('topology.kubernetes.io/zone') };
    case 2:
      return { ...pod, topologySpread: topologySpread('kubernetes.io/hostname') };
    case 3:
      return { ...pod, podAffinity: [{ topologyKey: 'topology.kubernetes.io/zone', selector: { matchLabels } }] };
    case 4:
      return {
        ...pod,
        labels: { app: 'apart' },
        podAntiAffinity: [{ topologyKey: 'kubernetes.io/hostname', selector: { matchLabels: { app: 'apart' } } }],
      };
    default:
      return pod;
  }
}

function practiceType(index: number): InstanceType {
  const cores = 1 + (index % 60);
  const gibPerCore = [2, 4, 8, 2][index % 4] as number;
  const price = cores * (0.03 + 0.004 * gibPerCore) * (1 + (index % 9) / 50);
  return {
    name: `practice-${index}`,
    labels: { generation: String(index % 9) },
    capacity: { cpu: cores * 1000, memory: cores * gibPerCore * GIB, pods: 8 + 10 * cores },
    overhead: { cpu: 90, memory: GIB / 4 },
    offerings: ['a', 'b', 'c'].flatMap((zone) => [
      { zone, capacityType: 'on-demand' as const, price },
      { zone, capacityType: 'spot' as const, price: price * 0.35 },
    ]),
  };
}
