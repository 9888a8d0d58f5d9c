/**
 * The benchmark's cases by family. S is speed, C is cost, M is models with flavors, K is consolidation; each problem follows from its name and a seed. A case is made in
 * the process that measures it, so that no case warms up, or fills the memory of, another.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { InstanceTypeEntry } from '../src/cloud/simulated/instance-type-entries.ts';
import type { Fleet } from '../src/engine/consolidation/fleet.ts';
import type { Problem, Quality } from '../src/engine/problem.ts';
import { type Random, seededRandom } from '../src/platform/random.ts';
import { type PodGroup, readProblemFile } from './format/problem-file.ts';
import { toProblem } from './format/to-problem.ts';
import { CMR_ON_DEMAND, cloudCatalogue, regularCatalogue } from './generators/catalogues.ts';
import { fleetProblem, fullPoolProblem, manyPoolsProblem } from './generators/clusters.ts';
import { consolidationFleet } from './generators/consolidation-fleets.ts';
import { fallenFleet } from './generators/fallen-fleets.ts';
import { modelsProblem } from './generators/models.ts';
import {
  deployments,
  distinctPods,
  diversePods,
  genericPods,
  gpuPods,
  mixedPods,
  unlikePods,
  unlikeSpreadPods,
} from './generators/pods.ts';

/** What a case asks for: a plan for pods, or a plan for a fleet. */
export type Question = { readonly problem: () => Problem } | { readonly fleet: () => Fleet };

/** One question to be answered in one quality. */
export interface BenchCase {
  readonly family: string;
  readonly name: string;
  readonly quality: Quality;
  readonly question: Question;
  /** The series whose growth it is a point of, and its place in it. */
  readonly growth?: { readonly over: string; readonly size: number };
  /** A problem of the same recipe that Karpenter was measured on: its speed compares, its price does not. */
  readonly recipe?: string;
  /** Whether its price is held against what pods would cost that can be cut. */
  readonly fluid?: boolean;
  /** The file it was read from: price and speed compare with Karpenter's on that very problem. */
  readonly file?: string;
}

const SEED = 'bench-1';

/** All generated cases. */
export function generatedCases(): BenchCase[] {
  return [...s1(), ...s2(), ...s4(), ...c1(), ...c2(), ...c3(), ...c4(), ...m1(), ...k1(), ...k2()];
}

/** Cases of the problem files in a folder, each in both qualities. */
export function fileCases(folder: string): BenchCase[] {
  const files = readdirSync(folder).filter((file) => /\.json(\.gz)?$/.test(file));
  return files.sort().flatMap((file) =>
    (['fast', 'balanced'] as const).map((quality) => ({
      family: 'P',
      name: file.replace(/\.json(\.gz)?$/, ''),
      quality,
      question: { problem: () => toProblem(readProblemFile(join(folder, file))) },
      file: join(folder, file),
    })),
  );
}

/** Tells a case from all others. */
export function idOf({ family, name, quality }: BenchCase): string {
  return `${family}/${name}/${quality}`;
}

type Catalogue = () => readonly InstanceTypeEntry[];
type Pods = (count: number, random: Random) => readonly PodGroup[];

function made(
  family: string,
  quality: Quality,
  count: number,
  pods: Pods,
  catalogue: Catalogue,
  name: string,
): BenchCase {
  return {
    family,
    name,
    quality,
    question: {
      problem: () => toProblem({ InstanceTypes: catalogue(), Pods: pods(count, seededRandom(SEED).split(name)) }),
    },
  };
}

function s1(): BenchCase[] {
  return [1000, 5000, 10_000, 20_000, 100_000].map((count) => ({
    ...made('S1', 'fast', count, diversePods, regularCatalogue, `diverse${count}-regular400`),
    growth: { over: 'pods, diverse', size: count },
    recipe: `diverse${count}-fake400`,
  }));
}

function s2(): BenchCase[] {
  return [2000, 5000, 20_000].map((count) => ({
    ...made('S2', 'fast', count, diversePods, cloudCatalogue, `diverse${count}-cloud`),
    recipe: `diverse${count}-awsFULL`,
  }));
}

function s4(): BenchCase[] {
  const fast = (name: string, over: string, size: number, problem: () => Problem): BenchCase => ({
    family: 'S4',
    name,
    quality: 'fast',
    question: { problem },
    growth: { over, size },
  });
  return [
    ...[2500, 5000, 10_000, 20_000].map((count) =>
      fast(`distinct${count}`, 'pods, no two alike', count, () =>
        toProblem({ InstanceTypes: cloudCatalogue({ ...CMR_ON_DEMAND, maxVcpus: 32 }), Pods: distinctPods(count) }),
      ),
    ),
    ...[1250, 2500, 5000, 10_000].map((count) =>
      fast(`fleet${count}`, 'nodes, two pods each', count, () => fleetProblem(count, seededRandom(SEED))),
    ),
    ...[125, 250, 500, 1000].map((count) =>
      fast(`types${count}`, 'types, 5,000 diverse pods', count, () =>
        toProblem({
          InstanceTypes: seededRandom(SEED).split('types').shuffle(cloudCatalogue()).slice(0, count),
          Pods: diversePods(5000, seededRandom(SEED).split('types')),
        }),
      ),
    ),
    ...[6, 12, 25, 50].map((count) =>
      fast(`pools${count}`, 'pools, 5,000 pods, 20 daemons', count, () => manyPoolsProblem(count, seededRandom(SEED))),
    ),
    ...[2500, 5000, 10_000, 20_000].map((count) =>
      fast(`full${count}`, 'pods, pool at its limit', count, () => fullPoolProblem(count, seededRandom(SEED))),
    ),
  ];
}

const CMR: Catalogue = () => cloudCatalogue(CMR_ON_DEMAND);
const CAPPED: Catalogue = () => cloudCatalogue({ ...CMR_ON_DEMAND, maxVcpus: 32 });
const CAPPED_SPOT: Catalogue = () => cloudCatalogue({ categories: ['c', 'm', 'r'], minGeneration: 5, maxVcpus: 32 });
const ONE_GENERATION: Catalogue = () => cloudCatalogue({ families: ['c7i', 'm7i', 'r7i'], spot: false });

function c1(): BenchCase[] {
  const cost = (count: number, kind: string, pods: Pods, cut: string, catalogue: Catalogue) =>
    made('C1', 'balanced', count, pods, catalogue, `${kind}${count}-${cut}`);
  return [
    cost(500, 'mixed', mixedPods, 'cmr', CMR),
    cost(2000, 'mixed', mixedPods, 'cmr', CMR),
    cost(2000, 'mixed', mixedPods, 'cmr-cap32', CAPPED),
    cost(2000, 'mixed', mixedPods, 'cmr-cap32-spot', CAPPED_SPOT),
    cost(2000, 'mixed', mixedPods, '7i', ONE_GENERATION),
    cost(2000, 'mixed', mixedPods, 'cloud', cloudCatalogue),
    cost(1000, 'generic', genericPods, 'cmr', CMR),
    cost(5000, 'generic', genericPods, 'cmr', CMR),
    cost(5000, 'generic', genericPods, 'cmr-cap32', CAPPED),
    cost(5000, 'generic', genericPods, '7i', ONE_GENERATION),
  ];
}

function c2(): BenchCase[] {
  return [500, 2000, 5000].flatMap((count) => [
    made('C2', 'balanced', count, deployments, CAPPED, `deployments${count}-cmr-cap32`),
    made('C2', 'balanced', count, deployments, ONE_GENERATION, `deployments${count}-7i`),
  ]);
}

function c3(): BenchCase[] {
  const catalogue = () =>
    cloudCatalogue({ categories: ['g', 'p', 'c', 'm', 'r'], arch: 'amd64', spot: false, accelerated: true });
  return [made('C3', 'balanced', 8152, gpuPods, catalogue, 'gpu8152-cloud')];
}

function c4(): BenchCase[] {
  const cut = { ...CMR_ON_DEMAND, minVcpus: 2, maxVcpus: 64 };
  const onDemand: Catalogue = () => cloudCatalogue(cut);
  const withSpot: Catalogue = () => cloudCatalogue({ ...cut, spot: true });
  const cost = (count: number, pods: Pods, catalogue: Catalogue, name: string): BenchCase => ({
    ...made('C4', 'balanced', count, pods, catalogue, name),
    fluid: true,
  });
  return [1000, 5000, 20_000].flatMap((count) => [
    cost(count, unlikePods, onDemand, `unlike${count}`),
    cost(count, unlikeSpreadPods, onDemand, `unlike${count}-zones`),
    cost(count, unlikePods, withSpot, `unlike${count}-spot`),
    cost(count, unlikeSpreadPods, withSpot, `unlike${count}-zones-spot`),
  ]);
}

function m1(): BenchCase[] {
  return (['fast', 'balanced'] as const).map((quality) => ({
    family: 'M1',
    name: 'models5000',
    quality,
    question: { problem: () => modelsProblem(5000, seededRandom(SEED)) },
  }));
}

function k1(): BenchCase[] {
  const fleet = (count: number, budgets: 'half' | 'open'): BenchCase => ({
    family: 'K1',
    name: budgets === 'open' ? `fleet${count}-open` : `fleet${count}`,
    quality: 'balanced',
    question: { fleet: () => consolidationFleet(count, seededRandom(SEED), budgets) },
    growth: { over: budgets === 'open' ? 'nodes, consolidated at once' : 'nodes, consolidated', size: count },
  });
  const counts = [100, 300, 1000, 5000];
  return [...counts.map((count) => fleet(count, 'half')), ...counts.map((count) => fleet(count, 'open'))];
}

function k2(): BenchCase[] {
  return [0, 0.01, 0.02, 0.05].flatMap((held) =>
    [1, 2, 3, 4, 5].map((draw) => ({
      family: 'K2',
      name: `fallen3000-to-600-${draw}${held === 0 ? '' : `-held${100 * held}%`}`,
      quality: 'balanced',
      question: { fleet: () => fallenFleet(3000, 600, seededRandom(SEED).split(`fallen-${draw}`), held) },
    })),
  );
}
