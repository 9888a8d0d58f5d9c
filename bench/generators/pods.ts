/** Pods in the exchange format, drawn from a seed: the mixes that the benchmark families are made of. */
import type { Random } from '../../src/platform/random.ts';
import type { Labels, PodGroup } from '../format/problem-file.ts';

const MILLI_CPU = [100, 250, 500, 1000, 1500];
const MEMORY_MIB = [100, 256, 512, 1024, 2048, 4096];
const LABEL_VALUES = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];

/** Pods without constraints in thirty shapes, all small. */
export function genericPods(count: number, random: Random): PodGroup[] {
  return Array.from({ length: count }, () => ({ ...smallPod(random), Labels: anyLabel(random) }));
}

/**
 * Five equal parts, as in Karpenter's public scheduling benchmark: plain, spread over zones, spread over hosts, together
 * in one zone, and never two on one host. Spread constraints may select other labels than the pod's own.
 */
export function diversePods(count: number, random: Random): PodGroup[] {
  const kinds: ((random: Random) => PodGroup)[] = [
    (draw) => ({ ...smallPod(draw), Labels: anyLabel(draw) }),
    (draw) => ({ ...smallPod(draw), Labels: anyLabel(draw), SpreadZone: anyLabel(draw) }),
    (draw) => ({ ...smallPod(draw), Labels: anyLabel(draw), SpreadHost: anyLabel(draw) }),
    (draw) => {
      const Labels = { group: draw.pick(LABEL_VALUES) };
      return { ...smallPod(draw), Labels, AffZone: Labels };
    },
    (draw) => ({ ...smallPod(draw), Labels: { app: 'apart' }, AntiHost: { app: 'apart' } }),
  ];
  const part = Math.ceil(count / kinds.length);
  return Array.from({ length: count }, (_, index) => (kinds[Math.floor(index / part)] as (typeof kinds)[0])(random));
}

/** Services of a company: nine shapes from a quarter of a vCPU to fifteen, without constraints. */
export function mixedPods(count: number, random: Random): PodGroup[] {
  const shapes = [
    [250, 512],
    [500, 1024],
    [1000, 2048],
    [2000, 8192],
    [4000, 16384],
    [1500, 12288],
    [3000, 24576],
    [7000, 14336],
    [15000, 28672],
  ] as const;
  return Array.from({ length: count }, () => {
    const [CPUm, MemMi] = random.pick(shapes);
    return { ...plain(CPUm, MemMi), Labels: { app: 'service' } };
  });
}

/** The same services as deployments of 2 to 60 replicas, half spread over zones, some kept together in a zone. */
export function deployments(count: number, random: Random): PodGroup[] {
  const groups: PodGroup[] = [];
  for (let placed = 0; placed < count; ) {
    const Count = Math.min(count - placed, 2 + random.below(59));
    const [shape] = mixedPods(1, random) as [PodGroup];
    const Labels = { app: `app-${groups.length}` };
    const chance = random.next();
    const constraint = chance < 0.5 ? { SpreadZone: Labels } : chance < 0.65 ? { AffZone: Labels } : {};
    groups.push({ ...shape, Count, Labels, ...constraint });
    placed += Count;
  }
  return groups;
}

/**
 * Training and inference jobs in the proportions of a public GPU cluster trace: nearly nine in ten want one GPU, one in
 * eight none, a few 2, 4 or 8; vCPUs and memory per GPU vary widely.
 */
export function gpuPods(count: number, random: Random): PodGroup[] {
  const shapes = Array.from({ length: 100 }, () => {
    const chance = random.next();
    const GPU = chance < 0.134 ? 0 : chance < 0.99 ? 1 : random.pick([2, 4, 8, 8]);
    const perGpu = random.pick([3000, 4000, 6000, 8000, 10000, 12000, 16000]);
    const CPUm = (GPU === 8 ? 8000 : perGpu) * Math.max(1, GPU) + random.below(10) * 100;
    return { ...plain(CPUm, Math.round((CPUm / 1000) * random.between(1.5, 4)) * 1024), GPU };
  });
  // A few shapes are most of the trace.
  return Array.from({ length: count }, () => ({
    ...(shapes[Math.floor(shapes.length * random.next() ** 2.5)] as PodGroup),
    Labels: { app: 'job' },
  }));
}

/** Pods of which no two are alike: two prime cycles meet again only after seven million pods. */
export function distinctPods(count: number): PodGroup[] {
  return Array.from({ length: count }, (_, index) => ({
    ...plain(100 + ((index * 7) % 1901), 128 + ((index * 29) % 4001)),
    Labels: { app: 'distinct' },
  }));
}

/**
 * Pods of which no two are alike, as a vertical autoscaler or batch jobs make them: 50m to 4 vCPUs and half a GiB to 8 GiB for each
 * vCPU, both spread evenly over orders of magnitude.
 */
export function unlikePods(count: number, random: Random): PodGroup[] {
  const seen = new Set<string>();
  return Array.from({ length: count }, () => {
    for (;;) {
      const cpu = 50 * 80 ** random.next();
      const pod = {
        ...plain(Math.round(cpu), Math.round(cpu * 0.512 * 16 ** random.next())),
        Labels: { app: 'unlike' },
      };
      const key = `${pod.CPUm}/${pod.MemMi}`;
      if (seen.has(key)) continue;
      seen.add(key);
      return pod;
    }
  });
}

/** The same pods in apps of 20 to 100, each spread over zones. */
export function unlikeSpreadPods(count: number, random: Random): PodGroup[] {
  const sizes = random.split('apps');
  let app = 0;
  let left = 0;
  return unlikePods(count, random).map((pod) => {
    if (left === 0) {
      app++;
      left = 20 + sizes.below(81);
    }
    left--;
    const Labels = { app: `app-${app}` };
    return { ...pod, Labels, SpreadZone: Labels };
  });
}

function smallPod(random: Random): PodGroup {
  return plain(random.pick(MILLI_CPU), random.pick(MEMORY_MIB));
}

function anyLabel(random: Random): Labels {
  return { tier: random.pick(LABEL_VALUES) };
}

function plain(CPUm: number, MemMi: number): PodGroup {
  return { Count: 1, CPUm, MemMi, GPU: 0, Labels: {}, NodeSelector: {} };
}
