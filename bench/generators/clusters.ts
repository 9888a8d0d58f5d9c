/** Problems that no single-pool, empty-cluster file can say: fleets, many pools, pools at their limit. */
import type { DaemonGroup, ExistingNode, Pool, Problem } from '../../src/engine/problem.ts';
import type { Random } from '../../src/platform/random.ts';
import { toProblem } from '../format/to-problem.ts';
import { CMR_ON_DEMAND, cloudCatalogue } from './catalogues.ts';
import { genericPods, mixedPods } from './pods.ts';

const ZONE = 'topology.kubernetes.io/zone';
const GIB = 1024 ** 3;

/** A fleet of nodes that each run two pods and have room, each a different one, for up to two more; a pending pod for each. */
export function fleetProblem(nodeCount: number, random: Random): Problem {
  const problem = toProblem({
    InstanceTypes: cloudCatalogue({ ...CMR_ON_DEMAND, maxVcpus: 32 }),
    Pods: genericPods(nodeCount, random.split('fleet')),
  });
  const draw = random.split('room');
  const nodes = Array.from({ length: nodeCount }, (_, index): ExistingNode => {
    const free = { cpu: draw.below(2500), memory: draw.below(6 * GIB), pods: 2 };
    return { name: `node-${index}`, labels: { [ZONE]: `sim-1${'abcd'[index % 4]}` }, free };
  });
  return {
    ...problem,
    nodes,
    boundPods: nodes.map(({ name }, index) => ({
      node: name,
      namespace: 'default',
      labels: { app: `app-${index % 50}` },
      count: 2,
    })),
  };
}

/** Pools that overlap: each takes three families, half want a team's taint tolerated; twenty daemons run on all. */
export function manyPoolsProblem(poolCount: number, random: Random): Problem {
  const draw = random.split('pools');
  const catalogue = cloudCatalogue({ categories: ['c', 'm', 'r'], minGeneration: 5, maxVcpus: 64 });
  const families = [...new Set(catalogue.map((type) => type.Labels.family as string))];
  const pools = Array.from({ length: poolCount }, (_, index): Pool => {
    const values = draw.shuffle(families).slice(0, 3);
    return {
      name: `pool-${index}`,
      requirements: [{ key: 'family', operator: 'In', values }],
      labels: { team: `team-${index}` },
      ...(index % 2 === 1 ? { taints: [{ key: 'team', value: `team-${index}`, effect: 'NoSchedule' }] } : {}),
    };
  });
  const daemons = Array.from(
    { length: 20 },
    (_, index): DaemonGroup => ({
      name: `daemon-${index}`,
      requests: { cpu: 10 + index, memory: (16 + index) * 1024 * 1024 },
      tolerations: [{ operator: 'Exists' }],
    }),
  );
  const problem = toProblem({ InstanceTypes: catalogue, Pods: mixedPods(5000, draw) });
  const pods = problem.pods.map((group, index) => {
    const value = `team-${index % poolCount}`;
    return index % 3 === 0
      ? {
          ...group,
          requirements: [[{ key: 'team', operator: 'In' as const, values: [value] }]],
          tolerations: [{ key: 'team', value }],
        }
      : group;
  });
  return { ...problem, pools, pods, daemons };
}

/** A pool that has reached its limit: nothing can be placed, and that should be found out quickly. */
export function fullPoolProblem(podCount: number, random: Random): Problem {
  const limit = { cpu: 1_000_000 };
  return {
    ...toProblem({ InstanceTypes: cloudCatalogue(CMR_ON_DEMAND), Pods: genericPods(podCount, random.split('full')) }),
    pools: [{ name: 'default', limits: limit, usage: limit }],
  };
}
