/**
 * Whatever the flavors, ranking, terms, nodes and pools: no pod is placed outside its flavors, and none on a lower-ranked choice while a
 * higher-ranked one could serve it. The check is plain code that shares nothing with the solver: it compares labels and counts room.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CAPACITY_TYPES } from '../apis/karpenter/labels.ts';
import { aNodePool } from '../apis/karpenter/testkit/a-node-pool.ts';
import type { Pod } from '../apis/kubernetes/pod.ts';
import { ANNOTATION_FLAVORS, LABEL_MODEL_NAME } from '../apis/llmaz/labels.ts';
import type { Flavor } from '../apis/llmaz/open-model.ts';
import type { InstanceType } from '../engine/problem.ts';
import { solve } from '../engine/solve.ts';
import { verify } from '../engine/verify/verify.ts';
import { buildProblem } from './build-problem.ts';
import { aFleetSnapshot } from './testkit/a-fleet-snapshot.ts';
import { aModel, aModelPod, someModels } from './testkit/a-model.ts';
import { aStateNode } from './testkit/a-state-node.ts';

const GPUS = ['t4', 'l4', 'a100'];
const GPU = 'example.com/gpu';
const SIZE = 'example.com/size';

type Labels = Readonly<Record<string, string>>;

const selector = fc.record(
  { [GPU]: fc.constantFrom(...GPUS), [SIZE]: fc.constantFrom('small', 'large'), 'nobody.has/it': fc.constant('x') },
  { requiredKeys: [] },
);
// A key that no node has is rare; else hardly any flavor could be served.
const nodeSelector = fc.tuple(selector, fc.double({ min: 0, max: 1 })).map(([labels, luck]) => {
  const { 'nobody.has/it': odd, ...rest } = labels;
  return (luck < 0.15 && odd !== undefined ? { ...rest, 'nobody.has/it': odd } : rest) as Labels;
});
const flavors = fc
  .array(nodeSelector, { minLength: 1, maxLength: 8 })
  .map((all) => all.map((labels, index): Flavor => ({ name: `flavor-${index}`, nodeSelector: labels })));

const machine = fc.record({
  gpu: fc.constantFrom(...GPUS),
  size: fc.constantFrom('small', 'large'),
  healthy: fc.record({ spot: fc.boolean(), 'on-demand': fc.boolean() }),
  price: fc.integer({ min: 1, max: 9 }),
});
const ranking = fc.oneof(
  fc.constantFrom({ order: 'Strict' as const }, { order: 'SpotFirst' as const }),
  fc
    .uniqueArray(
      fc.record({
        flavor: fc.integer({ min: 0, max: 8 }).map((number) => `flavor-${number}`),
        capacityType: fc.constantFrom(...CAPACITY_TYPES),
        // Few values, so that there are ties.
        weight: fc.integer({ min: 1, max: 4 }),
      }),
      { selector: ({ flavor, capacityType }) => `${flavor} ${capacityType}`, maxLength: 12 },
    )
    .map((weights) => ({ order: 'Weight' as const, weights })),
);
const shape = fc.record({
  model: fc.integer({ min: 0, max: 1 }),
  order: fc.option(fc.shuffledSubarray([0, 1, 2, 3], { minLength: 1 }), { nil: undefined }),
  terms: fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 2 }),
  count: fc.integer({ min: 1, max: 3 }),
});
const there = fc.record({
  gpu: fc.constantFrom(...GPUS),
  size: fc.constantFrom('small', 'large'),
  zone: fc.constantFrom('a', 'b'),
  gpus: fc.integer({ min: 0, max: 2 }),
  coming: fc.boolean(),
  capacityType: fc.constantFrom(...CAPACITY_TYPES),
});

const ZONE = 'topology.kubernetes.io/zone';
const CAPACITY = 'karpenter.sh/capacity-type';
const NONE = Number.POSITIVE_INFINITY;

it('no pod is outside its flavors, nor on a lower rank while a higher one could serve', () => {
  fc.assert(
    fc.property(
      fc.tuple(flavors, flavors),
      fc.array(machine, { minLength: 1, maxLength: 5 }),
      fc.array(shape, { minLength: 1, maxLength: 4 }),
      fc.array(there, { maxLength: 4 }),
      ranking,
      fc.constantFrom('fast' as const, 'balanced' as const),
      (models, machines, shapes, nodes, ranked, quality) => {
        const types = machines.map(
          ({ gpu, size, healthy, price }, index): InstanceType => ({
            name: `type-${index}`,
            labels: { [GPU]: gpu, [SIZE]: size },
            capacity: { cpu: 8000, memory: 64e9, pods: 20, 'nvidia.com/gpu': 2 },
            offerings: ['a', 'b'].flatMap((zone) => [
              { zone, capacityType: 'spot' as const, price, healthy: healthy.spot },
              { zone, capacityType: 'on-demand' as const, price: price * 3, healthy: healthy['on-demand'] },
            ]),
          }),
        );
        const stateNodes = nodes.map(({ gpu, size, zone, gpus, coming, capacityType }, index) => {
          const allocatable = { cpu: '8', memory: '64G', pods: '20', 'nvidia.com/gpu': String(gpus) };
          const labels = { [GPU]: gpu, [SIZE]: size, [ZONE]: zone, [CAPACITY]: capacityType };
          const { node, ...claimed } = aStateNode({ name: `node-${index}`, allocatable, labels });
          return coming ? claimed : { ...claimed, node };
        });
        const pods = shapes.flatMap(({ model, order, terms, count }, index) => {
          const known = models[model]?.length ?? 0;
          const names = order?.filter((number) => number < known).map((number) => `flavor-${number}`);
          const nodeSelectorTerms = terms.map((zone) => ({
            matchExpressions: [{ key: ZONE, operator: 'In' as const, values: [zone] }],
          }));
          const affinity = {
            nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
          };
          return Array.from({ length: count }, (_, copy) =>
            aModelPod(
              `pod-${index}-${copy}`,
              `model-${model}`,
              names === undefined || names.length === 0 ? undefined : names.join(','),
              terms.length === 0 ? {} : { affinity },
            ),
          );
        });
        const built = buildProblem({
          pending: pods,
          ...aFleetSnapshot({
            nodes: stateNodes,
            pools: [{ pool: aNodePool(), instanceTypes: types }],
            models: { ...someModels(...models.map((list, index) => aModel(`model-${index}`, list))), ranking: ranked },
          }),
        });
        const solution = solve(built.problem, { quality, maxSteps: 20_000 });
        expect(verify(built.problem, solution)).toEqual([]);

        // From here on plain code, without the solver.
        const placed = new Map<Pod, Labels>();
        const free = new Map(nodes.map(({ gpus }, index) => [`node-${index}`, gpus]));
        const labelsOf = new Map(
          nodes.map(({ gpu, size, zone, capacityType }, index): [string, Labels] => [
            `node-${index}`,
            { [GPU]: gpu, [SIZE]: size, [ZONE]: zone, [CAPACITY]: capacityType },
          ]),
        );
        for (const { node, pods: numbers } of solution.existing) {
          for (const number of numbers) {
            placed.set(built.pods[number] as Pod, labelsOf.get(node) as Labels);
            free.set(node, (free.get(node) as number) - 1);
          }
        }
        const spare: Labels[] = [];
        for (const { pods: numbers, offerings } of solution.newNodes) {
          const all = offerings.map((offering) => {
            const type = types.find(({ name }) => name === offering.instanceType);
            return { ...type?.labels, [ZONE]: offering.zone, [CAPACITY]: offering.capacityType };
          });
          // The launch may take any of these offerings, so all must have the same rank.
          for (const labels of all) {
            for (const number of numbers) {
              const pod = built.pods[number] as Pod;
              expect(rankOn(pod, labels)).toBe(rankOn(pod, all[0] as Labels));
              expect(rankOn(pod, labels)).toBeLessThan(NONE);
            }
          }
          for (const number of numbers) placed.set(built.pods[number] as Pod, all[0] as Labels);
          if (numbers.length < 2) spare.push(all[0] as Labels);
        }
        const sold = types.flatMap(({ labels, offerings }) =>
          offerings.flatMap(({ zone, healthy, capacityType }) =>
            healthy ? [{ ...labels, [ZONE]: zone, [CAPACITY]: capacityType }] : [],
          ),
        );
        const open = [...free].flatMap(([name, gpus]) => (gpus > 0 ? [labelsOf.get(name) as Labels] : []));
        for (const pod of pods) {
          const labels = placed.get(pod);
          if (labels !== undefined) expect(rankOn(pod, labels)).toBeLessThan(NONE);
          const rank = labels === undefined ? NONE : rankOn(pod, labels);
          for (const other of [...sold, ...open, ...spare]) expect(rank).toBeLessThanOrEqual(rankOn(pod, other));
        }

        /** The best rank, from 0, of a node with these labels for the pod. NONE outside its flavors or node affinity. */
        function rankOn({ metadata, spec }: Pod, labels: Labels): number {
          const zones = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
          const isWanted = zones?.some((term) => term.matchExpressions?.[0]?.values?.includes(labels[ZONE] ?? ''));
          if (isWanted === false) return NONE;
          const list = models[Number(metadata.labels?.[LABEL_MODEL_NAME]?.at(-1))] ?? [];
          const names = metadata.annotations?.[ANNOTATION_FLAVORS]?.split(',') ?? list.map(({ name }) => name);
          const ranks = names.map((name, index) => {
            const wanted = list.find((flavor) => flavor.name === name)?.nodeSelector ?? {};
            const isOne = Object.entries(wanted).every(([key, value]) => labels[key] === value);
            return isOne ? 10 * classOf(name, labels[CAPACITY] ?? '') + index : NONE;
          });
          return Math.min(...ranks);
        }

        /** The rank that counts before the order of the flavors. */
        function classOf(flavor: string, capacityType: string): number {
          if (ranked.order === 'Strict') return 0;
          if (ranked.order === 'SpotFirst') return capacityType === 'on-demand' ? 1 : 0;
          const weightAs = (type: string): number | undefined =>
            ranked.weights.find((one) => one.flavor === flavor && one.capacityType === type)?.weight;
          const weight = weightAs(capacityType) ?? (capacityType === 'reserved' ? weightAs('spot') : undefined) ?? 0;
          return 4 - weight;
        }
      },
    ),
    { numRuns: 300 },
  );
});
