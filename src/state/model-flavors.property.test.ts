/**
 * Whatever flavors, terms, nodes and pools there are: no pod is put outside its flavors, and none on a later one while an earlier one
 * could serve it. Judged by plain code that shares nothing with the solver: labels are compared, room is counted.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
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
// A key that nobody has is rare, or hardly any flavor could ever be served.
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
  healthy: fc.boolean(),
  price: fc.integer({ min: 1, max: 9 }),
});
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
});

const ZONE = 'topology.kubernetes.io/zone';

it('no pod is outside its flavors, nor on a later one while an earlier one could serve', () => {
  fc.assert(
    fc.property(
      fc.tuple(flavors, flavors),
      fc.array(machine, { minLength: 1, maxLength: 5 }),
      fc.array(shape, { minLength: 1, maxLength: 4 }),
      fc.array(there, { maxLength: 4 }),
      fc.constantFrom('fast' as const, 'balanced' as const),
      (models, machines, shapes, nodes, quality) => {
        const types = machines.map(
          ({ gpu, size, healthy, price }, index): InstanceType => ({
            name: `type-${index}`,
            labels: { [GPU]: gpu, [SIZE]: size },
            capacity: { cpu: 8000, memory: 64e9, pods: 20, 'nvidia.com/gpu': 2 },
            offerings: ['a', 'b'].map((zone) => ({ zone, capacityType: 'spot', price, healthy })),
          }),
        );
        const stateNodes = nodes.map(({ gpu, size, zone, gpus, coming }, index) => {
          const allocatable = { cpu: '8', memory: '64G', pods: '20', 'nvidia.com/gpu': String(gpus) };
          const labels = { [GPU]: gpu, [SIZE]: size, [ZONE]: zone };
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
            models: someModels(...models.map((list, index) => aModel(`model-${index}`, list))),
          }),
        });
        const solution = solve(built.problem, { quality, maxSteps: 20_000 });
        expect(verify(built.problem, solution)).toEqual([]);

        // From here on plain code.
        const placed = new Map<Pod, Labels>();
        const free = new Map(nodes.map(({ gpus }, index) => [`node-${index}`, gpus]));
        const labelsOf = new Map(
          nodes.map(({ gpu, size, zone }, index) => [`node-${index}`, { [GPU]: gpu, [SIZE]: size, [ZONE]: zone }]),
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
            return { ...type?.labels, [ZONE]: offering.zone };
          });
          // The launch may take any of them, so each must be of the same flavor.
          for (const labels of all) {
            for (const number of numbers) {
              const pod = built.pods[number] as Pod;
              expect(stepOn(pod, labels)).toBe(stepOn(pod, all[0] as Labels));
              expect(stepOn(pod, labels)).toBeGreaterThanOrEqual(0);
            }
          }
          for (const number of numbers) placed.set(built.pods[number] as Pod, all[0] as Labels);
          if (numbers.length < 2) spare.push(all[0] as Labels);
        }
        const sold = types.flatMap(({ labels, offerings }) =>
          offerings.flatMap(({ zone, healthy }) => (healthy ? [{ ...labels, [ZONE]: zone }] : [])),
        );
        const open = [...free].flatMap(([name, gpus]) => (gpus > 0 ? [labelsOf.get(name) as Labels] : []));
        for (const pod of pods) {
          const labels = placed.get(pod);
          const step = labels === undefined ? Number.POSITIVE_INFINITY : stepOn(pod, labels);
          expect(step).toBeGreaterThanOrEqual(0);
          for (const other of [...sold, ...open, ...spare]) {
            const better = stepOn(pod, other);
            if (better >= 0) expect(step).toBeLessThanOrEqual(better);
          }
        }

        /** The first flavor of the pod that a node with these labels is of; -1 where it is of none, or not where the pod wants to be. */
        function stepOn({ metadata, spec }: Pod, labels: Labels): number {
          const zones = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
          const isWanted = zones?.some((term) => term.matchExpressions?.[0]?.values?.includes(labels[ZONE] ?? ''));
          if (isWanted === false) return -1;
          const list = models[Number(metadata.labels?.[LABEL_MODEL_NAME]?.at(-1))] ?? [];
          const names = metadata.annotations?.[ANNOTATION_FLAVORS]?.split(',') ?? list.map(({ name }) => name);
          return names.findIndex((name) => {
            const wanted = list.find((flavor) => flavor.name === name)?.nodeSelector ?? {};
            return Object.entries(wanted).every(([key, value]) => labels[key] === value);
          });
        }
      },
    ),
    { numRuns: 300 },
  );
});
