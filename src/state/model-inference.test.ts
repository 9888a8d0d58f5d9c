/**
 * Spot GPUs for models, by the design document (numbers are its points). The suite is named as in the design, and includes the cases of
 * llmaz's own fork of Karpenter.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { type CapacityType, LABEL_CAPACITY_TYPE } from '../apis/karpenter/labels.ts';
import { aNodePool } from '../apis/karpenter/testkit/a-node-pool.ts';
import type { Pod, PodSpec } from '../apis/kubernetes/pod.ts';
import type { OpenModel } from '../apis/llmaz/open-model.ts';
import { withDefaults } from '../apis/schema/with-defaults.ts';
import type { SpotPolicy } from '../apis/spindrift/spot-policy.ts';
import { SPOT_POLICY_SPEC } from '../apis/spindrift/spot-policy-schema.ts';
import { consolidate } from '../engine/consolidation/consolidate.ts';
import type { InstanceType } from '../engine/problem.ts';
import type { RankedOffering } from '../engine/solution.ts';
import { solve } from '../engine/solve.ts';
import { buildFleet } from './build-fleet.ts';
import { type BuiltProblem, buildProblem, type ClusterSnapshot } from './build-problem.ts';
import { type FlavorOrder, type FlavorRanking, flavorRankingOf, flavorSteps, replicaSteps } from './flavor-order.ts';
import { GpuNames } from './gpu-names.ts';
import { parseGpuNamesSetting, readGpuNames } from './gpu-names-source.ts';
import type { ModelLookup } from './model-flavors.ts';
import { PodFactsCache } from './pod-facts.ts';
import type { StateNode } from './state-node.ts';
import { aFleetSnapshot, type FleetSnapshotParts } from './testkit/a-fleet-snapshot.ts';
import { AWS_GPU, aFlavor, aModel, aModelPod, gpuMachines, someModels } from './testkit/a-model.ts';
import { aPodAsking, aStateNode, type StateNodeParts } from './testkit/a-state-node.ts';

interface World extends FleetSnapshotParts {
  readonly models?: ModelLookup;
  readonly machines?: readonly InstanceType[];
  readonly displaced?: ClusterSnapshot['displaced'];
}

const BOTH = gpuMachines('t4g', 't4');
const DESIGN = aModel('qwen2-0--5b', ['t4g', 't4']);

/** In the design's example, machines of later flavors are cheaper, so that price alone would choose wrongly. */
function build(pending: readonly Pod[], { machines = BOTH, models = someModels(DESIGN), ...parts }: World = {}) {
  const pools = [{ pool: aNodePool(), instanceTypes: machines }];
  return buildProblem({ pending, ...aFleetSnapshot({ pools, models, ...parts }) });
}

/** Where each pod is placed: the name of its node, or the instance type launched for it; absent if unplaced. */
function places(built: BuiltProblem): Record<string, string> {
  const { newNodes, existing } = solve(built.problem, { maxSteps: 100_000 });
  const found = [
    ...newNodes.map(({ pods, offerings }) => ({ pods, where: offerings[0]?.instanceType ?? '' })),
    ...existing.map(({ pods, node }) => ({ pods, where: node })),
  ];
  return Object.fromEntries(
    found.flatMap(({ pods, where }) => pods.map((number) => [built.pods[number]?.metadata.name ?? '', where])),
  );
}

/** A node with a GPU of that name; without a Node object it is still starting. */
function aGpuNode(gpu: string, parts: StateNodeParts = {}): StateNode & { readonly node: object } {
  const allocatable = { cpu: '4', memory: '16Gi', pods: '29', 'nvidia.com/gpu': '1' };
  return aStateNode({ name: `there-${gpu}`, allocatable, labels: { [AWS_GPU]: gpu }, ...parts });
}

function onItsWay(gpu: string): StateNode {
  const { node: _, ...coming } = aGpuNode(gpu);
  return coming;
}

const pod = (flavors?: string, spec: Partial<PodSpec> = {}): Pod => aModelPod('a', 'qwen2-0--5b', flavors, spec);

describe('Model Inference Requirements', () => {
  describe('as in the fork of llmaz (24)', () => {
    it('schedules nothing for a pod whose model is not there, and counts it (22)', () => {
      const { problem, held } = build([pod()], { models: someModels() });
      expect(problem.pods).toEqual([]);
      expect(held.map(({ problem: why }) => why)).toEqual([
        'the OpenModel qwen2-0--5b, which its label llmaz.io/model-name names, does not exist',
      ]);
    });

    it('schedules a pod whose model has no flavors, as any other (22)', () => {
      for (const flavors of [undefined, []]) {
        const built = build([pod()], { models: someModels(aModel('qwen2-0--5b', flavors)) });
        expect(places(built)).toEqual({ a: 't4.xlarge' });
      }
    });

    it('schedules nothing for a pod that names a flavor which the model does not have, and says which it has (22)', () => {
      const [held, ...others] = build([pod('t4h')]).held;
      expect(others).toEqual([]);
      expect(held?.problem).toBe(
        'its annotation llmaz.io/inference-service-flavors names t4h, which OpenModel qwen2-0--5b does not have, did you mean t4? its flavors are t4g, t4',
      );
    });

    it('uses the machines of a single flavor (1, 14)', () => {
      const models = someModels(aModel('qwen2-0--5b', ['t4g']));
      expect(places(build([pod()], { models }))).toEqual({ a: 't4g.xlarge' });
    });

    it('uses the second of two flavors when the annotation picks it (19)', () => {
      expect(places(build([pod('t4')]))).toEqual({ a: 't4.xlarge' });
    });

    it('uses the second flavor when no pool has the first (20)', () => {
      expect(places(build([pod()], { machines: gpuMachines('t4') }))).toEqual({ a: 't4.xlarge' });
    });

    it('does not use a node of the second flavor, there or on its way, while a pool has the first (20)', () => {
      expect(places(build([pod()], { nodes: [onItsWay('t4')] }))).toEqual({ a: 't4g.xlarge' });
      expect(places(build([pod()], { nodes: [aGpuNode('t4')] }))).toEqual({ a: 't4g.xlarge' });
    });

    it('uses a node of the second flavor on its way when no pool has the first (11, 20)', () => {
      const machines = gpuMachines('t4');
      expect(places(build([pod()], { machines, nodes: [onItsWay('t4')] }))).toEqual({ a: 'there-t4' });
    });

    it('keeps the flavor with every term of a pod, whichever of them can be met (21)', () => {
      const affinity = {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [
              { matchExpressions: [{ key: 'nobody-has', operator: 'In' as const, values: ['it'] }] },
              { matchExpressions: [{ key: LABEL_CAPACITY_TYPE, operator: 'In' as const, values: ['on-demand'] }] },
            ],
          },
        },
      };
      const built = build([pod(undefined, { affinity })]);
      const [bought] = solve(built.problem).newNodes;
      expect(bought?.offerings[0]).toMatchObject({ instanceType: 't4g.xlarge', capacityType: 'on-demand' });
      expect(built.problem.pods[0]).toMatchObject({ ordered: true, stepSizes: [2, 2] });
      expect(
        built.problem.pods[0]?.requirements?.map((term) => term.map(({ key, values }) => [key, ...values])),
      ).toEqual([
        [
          ['nobody-has', 'it'],
          [AWS_GPU, 't4g'],
        ],
        [
          [LABEL_CAPACITY_TYPE, 'on-demand'],
          [AWS_GPU, 't4g'],
        ],
        [
          ['nobody-has', 'it'],
          [AWS_GPU, 't4'],
        ],
        [
          [LABEL_CAPACITY_TYPE, 'on-demand'],
          [AWS_GPU, 't4'],
        ],
      ]);
    });
  });

  it('buys spot unasked, the cheapest of the first flavor (1, 9)', () => {
    const [bought] = solve(build([pod()]).problem).newNodes;
    expect(bought?.offerings[0]).toMatchObject({ instanceType: 't4g.xlarge', capacityType: 'spot' });
  });

  it('uses a node of the first flavor before it buys one (11)', () => {
    expect(places(build([pod()], { nodes: [aGpuNode('t4'), aGpuNode('t4g')] }))).toEqual({ a: 'there-t4g' });
  });

  it('needs no change to a manifest, and changes no pod (12)', () => {
    const before = pod();
    const text = JSON.stringify(before);
    const built = build([before]);
    expect(built.pods[0]).toBe(before);
    expect(JSON.stringify(before)).toBe(text);
  });

  it('takes the order of the annotation, not of the model (10, 19)', () => {
    expect(places(build([pod('t4,t4g')]))).toEqual({ a: 't4.xlarge' });
    expect(places(build([pod('t4,t4')]))).toEqual({ a: 't4.xlarge' });
  });

  it.each([
    ['', 'names an empty name'],
    ['t4g,', 'names an empty name'],
    ['t4g, t4', 'names " t4"'],
  ])('refuses the flavors %j as llmaz-scheduler does (15, 22)', (flavors, why) => {
    expect(build([pod(flavors)]).held[0]?.problem).toContain(why);
  });

  it('leaves out one pod that is wrong, and no other (22)', () => {
    const others = [aModelPod('b', 'qwen2-0--5b'), aModelPod('c', 'gone')];
    const built = build([pod('nothing'), ...others]);
    expect(places(built)).toEqual({ b: 't4g.xlarge' });
    expect(built.held.map(({ pod: { metadata } }) => metadata.name)).toEqual(['a', 'c']);
  });

  it('tries all of nine flavors in their order (13)', () => {
    const names = Array.from({ length: 9 }, (_, index) => `gpu-${index}`);
    const models = someModels(aModel('qwen2-0--5b', names));
    for (const first of [0, 5, 8]) {
      const machines = gpuMachines(...names).slice(first);
      expect(places(build([pod()], { models, machines }))).toEqual({ a: `gpu-${first}.xlarge` });
    }
  });

  it('never uses a machine outside the flavors (14)', () => {
    const built = build([pod()], { machines: gpuMachines('a10g', 'l4'), nodes: [aGpuNode('h100')] });
    expect(places(built)).toEqual({});
    expect(solve(built.problem).unplaced).toHaveLength(1);
  });

  it('takes every node for one of a flavor without a selector, where its turn is (18)', () => {
    const models = someModels(aModel('qwen2-0--5b', ['t4g', aFlavor('any', {})]));
    expect(places(build([pod()], { models }))).toEqual({ a: 't4g.xlarge' });
    expect(places(build([pod()], { models, machines: gpuMachines('l4') }))).toEqual({ a: 'l4.xlarge' });
    expect(places(build([pod('any')], { models }))).toEqual({ a: 't4.xlarge' });
  });

  it('takes a flavor whose label no pool has for impossible, not for one without a selector (17)', () => {
    const models = someModels(aModel('qwen2-0--5b', [aFlavor('odd', { 'example.com/gpu': 't4g' }), 't4']));
    expect(places(build([pod()], { models }))).toEqual({ a: 't4.xlarge' });
    expect(places(build([pod('odd')], { models }))).toEqual({});
  });

  it('falls through at once when the first flavor is sold out, and returns when it is sold again (2, 20)', () => {
    const soldOut = BOTH.map((type) =>
      type.name === 't4g.xlarge'
        ? { ...type, offerings: type.offerings.map((one) => ({ ...one, healthy: false })) }
        : type,
    );
    expect(places(build([pod()], { machines: soldOut }))).toEqual({ a: 't4.xlarge' });
    expect(places(build([pod()], { machines: BOTH }))).toEqual({ a: 't4g.xlarge' });
  });

  it('divides pods that are alike among flavors where the first has not room for all (20)', () => {
    const pods = ['a', 'b', 'c'].map((name) => aModelPod(name, 'qwen2-0--5b'));
    const machines = gpuMachines('t4');
    const found = places(build(pods, { machines, nodes: [aGpuNode('t4g')] }));
    expect(Object.values(found).sort()).toEqual(['t4.xlarge', 't4.xlarge', 'there-t4g']);
  });

  it('keeps those on the first flavor for which a limit has room, although the second admits the same machines (18, 20)', () => {
    const models = someModels(aModel('qwen2-0--5b', ['t4g', aFlavor('any', {})]));
    const limited = aNodePool({ name: 'few', spec: { limits: { cpu: '8' } } });
    const others = aNodePool({ name: 'many' });
    const pods = ['a', 'b', 'c', 'd'].map((name) => aModelPod(name, 'qwen2-0--5b'));
    const built = build(pods, {
      models,
      pools: [
        { pool: limited, instanceTypes: gpuMachines('t4g', 'x', 'x2') },
        { pool: others, instanceTypes: gpuMachines('l4') },
      ],
    });
    const found = Object.values(places(built)).map((name) => name.replace(/^.*\//, ''));
    expect(found.sort()).toEqual(['l4.xlarge', 'l4.xlarge', 't4g.xlarge', 't4g.xlarge']);
  });

  it('keeps the order for pods of nodes that go (4, 20)', () => {
    const goes = aGpuNode('t4', { claimAnnotations: { 'karpenter.sh/interruption': 'x' }, name: 'goes' });
    const runs = aModelPod('a', 'qwen2-0--5b', undefined, { nodeName: 'goes' });
    const built = build([], { nodes: [goes], pods: [runs], displaced: [runs], isClosed: () => true } as World);
    expect(places({ ...built })).toEqual({ a: 't4g.xlarge' });
  });

  it('means nothing where llmaz is not installed (6, 7)', () => {
    const models: ModelLookup = { presence: 'missing', model: () => undefined };
    expect(places(build([pod('whatever')], { models }))).toEqual({ a: 't4.xlarge' });
  });

  it("takes a flavor as a name, limits and a node selector, as the design's example writes it (16)", () => {
    const text = readFileSync(join(import.meta.dirname, '..', '..', 'examples', 'models', 'design.yaml'), 'utf8');
    const model = parseAllDocuments(text)
      .map((document) => document.toJS() as OpenModel)
      .find(({ kind }) => kind === 'OpenModel') as OpenModel;
    expect(model.spec.inferenceConfig?.flavors).toEqual([aFlavor('t4g'), aFlavor('t4')]);
    expect(places(build([pod()], { models: someModels(model) }))).toEqual({ a: 't4g.xlarge' });
  });

  it("agrees with llmaz's scheduler: where a pod goes, its filter lets it, and its scores do not prefer another (15)", () => {
    const labels = ['t4g', 't4', 'l4'].map((gpu) => aGpuNode(gpu));
    for (const flavors of [undefined, 't4', 't4,t4g']) {
      const wanted = (flavors ?? 't4g,t4').split(',');
      for (let count = 1; count <= labels.length; count++) {
        const nodes = labels.slice(-count);
        const { a: where } = places(build([pod(flavors)], { nodes, machines: gpuMachines('h100') }));
        // llmaz's filter: all labels of one flavor. Its score: the earlier flavor, the higher.
        const score = ({ node }: StateNode): number => wanted.indexOf(node?.metadata.labels?.[AWS_GPU] ?? '');
        const allowed = nodes.filter((node) => score(node) >= 0).sort((a, b) => score(a) - score(b));
        expect(where).toBe(allowed[0]?.name);
      }
    }
  });

  it('waits while models are not read yet', () => {
    const models: ModelLookup = { presence: 'unknown', model: () => undefined };
    expect(build([pod()], { models }).held[0]?.problem).toContain('is not read yet');
  });

  it('tells pods of different models and flavors apart that are alike otherwise', () => {
    const models = someModels(DESIGN, aModel('other', ['t4']));
    const pods = [pod(), aModelPod('b', 'qwen2-0--5b', 't4'), aModelPod('c', 'other'), aModelPod('d', 'qwen2-0--5b')];
    expect(places(build(pods, { models }))).toEqual({
      ...{ a: 't4g.xlarge', b: 't4.xlarge' },
      ...{ c: 't4.xlarge', d: 't4g.xlarge' },
    });
  });
});

describe('consolidation of pods that serve models', () => {
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'qwen', uid: 'uid-qwen', controller: true };
  const node = aGpuNode('t4g');
  const runs = aModelPod('a', 'qwen2-0--5b', undefined, { nodeName: node.name });
  const pods = [{ ...runs, metadata: { ...runs.metadata, ownerReferences: [owner] } }];

  it('knows the flavors, and a model that changes (20)', () => {
    const cache = new PodFactsCache();
    const orderOf = (model: OpenModel) =>
      buildFleet(
        aFleetSnapshot({ nodes: [node], pods, models: someModels(model) }),
        cache,
      ).fleet.groups[0]?.requirements?.map((term) => term[0]?.values[0]);
    expect(orderOf(DESIGN)).toEqual(['t4g', 't4']);
    expect(orderOf(aModel('qwen2-0--5b', ['t4', 't4g']))).toEqual(['t4', 't4g']);
  });

  it('moves a pod to a choice of a higher weight where that saves money, and to none of a lower weight (2, 20)', () => {
    const weights = [
      { flavor: 't4', capacityType: 'spot', weight: 100 },
      { flavor: 't4g', capacityType: 'on-demand', weight: 50 },
    ] as const;
    const movesTo = (gpu: string, launched: RankedOffering, machines = BOTH): string[] => {
      const on = aGpuNode(gpu, { launched });
      const running = pods.map((each) => ({ ...each, spec: { ...each.spec, nodeName: on.name } }));
      const snapshot = aFleetSnapshot({
        nodes: [on],
        pods: running,
        pools: [{ pool: aNodePool(), instanceTypes: machines }],
        models: { ...someModels(DESIGN), ranking: { order: 'Weight', weights } },
      });
      const { moves } = consolidate(buildFleet(snapshot).fleet);
      return moves.flatMap(({ newNodes }) =>
        newNodes.map(({ offerings: [first] }) => `${first?.instanceType} ${first?.capacityType}`),
      );
    };
    const at = (instanceType: string, capacityType: CapacityType, price: number): RankedOffering => ({
      ...{ instanceType, capacityType, price, zone: 'sim-1a' },
    });
    expect(movesTo('t4g', at('t4g.xlarge', 'on-demand', 2))).toEqual(['t4.xlarge spot']);
    // Spot of the first flavor is cheaper but has no weight; the highest weight is not the cheapest.
    const dear = BOTH.map((type) => ({
      ...type,
      offerings: type.offerings.map((one) => ({ ...one, price: type.name === 't4.xlarge' ? 9 : one.price })),
    }));
    expect(movesTo('t4g', at('t4g.xlarge', 'on-demand', 2), dear)).toEqual([]);
  });

  it('does not move a pod whose model is gone: it would have no place', () => {
    const { fleet } = buildFleet(aFleetSnapshot({ nodes: [node], pods, models: someModels() }));
    expect(fleet.pods[0]?.stuck).toContain('does not exist');
  });
});

describe('workers of a group whose leader serves a model', () => {
  const plain = aPodAsking('qwen-0-1', { cpu: '1', 'nvidia.com/gpu': '1' });
  const worker: Pod = {
    ...plain,
    metadata: { ...plain.metadata, annotations: { 'leaderworkerset.sigs.k8s.io/leader-name': 'qwen-0' } },
  };
  const leader = aModelPod('qwen-0', 'qwen2-0--5b');
  const led = (nodeLabels?: Record<string, string>): ModelLookup => ({
    ...someModels(DESIGN),
    leader: () => ({ pod: leader, nodeLabels }),
  });

  it('have the flavors of their leader, and the one that it got once it has a node', () => {
    expect(places(build([worker], { models: led() }))).toEqual({ 'qwen-0-1': 't4g.xlarge' });
    expect(places(build([worker], { models: led({ [AWS_GPU]: 't4' }) }))).toEqual({ 'qwen-0-1': 't4.xlarge' });
    expect(places(build([worker], { models: led({ other: 'x' }) }))).toEqual({ 'qwen-0-1': 't4g.xlarge' });
  });

  it('are pods as any others where their leader is gone', () => {
    expect(places(build([worker]))).toEqual({ 'qwen-0-1': 't4.xlarge' });
  });
});

describe('the order of flavors and capacity types', () => {
  const bought = (order: FlavorOrder | FlavorRanking, machines: readonly InstanceType[], annotated = pod()) => {
    const ranking = typeof order === 'string' ? { order } : order;
    const [first] = solve(
      build([annotated], { machines, models: { ...someModels(DESIGN), ranking } }).problem,
    ).newNodes;
    return first && `${first.offerings[0]?.instanceType} ${first.offerings[0]?.capacityType}`;
  };
  const spotOnlyOf = (name: string): InstanceType[] =>
    BOTH.map((type) => ({
      ...type,
      offerings: type.offerings.map((one) => ({ ...one, healthy: one.capacityType !== 'spot' || type.name === name })),
    }));
  const own = (order: string): Pod => {
    const { metadata, ...rest } = pod();
    return { ...rest, metadata: { ...metadata, annotations: { 'spindrift.dev/flavor-order': order } } };
  };
  const policy = (name: string, priority: number, spec: Partial<SpotPolicy['spec']> = {}): SpotPolicy => ({
    ...{ apiVersion: 'spindrift.dev/v1alpha1', kind: 'SpotPolicy', metadata: { name } },
    spec: withDefaults(SPOT_POLICY_SPEC, { priority, ...spec }),
  });

  it('is that of the flavors unless a policy says otherwise', () => {
    expect(bought('Strict', spotOnlyOf('t4.xlarge'))).toBe('t4g.xlarge on-demand');
    expect(bought('SpotFirst', spotOnlyOf('t4.xlarge'))).toBe('t4.xlarge spot');
    expect(bought('SpotFirst', BOTH)).toBe('t4g.xlarge spot');
    expect(bought('SpotFirst', spotOnlyOf('none'))).toBe('t4g.xlarge on-demand');
    expect(bought('Price', BOTH)).toBe('t4.xlarge spot');
  });

  it('is spot first for a single flavor, too, whatever on demand costs or has room', () => {
    const dear = gpuMachines('t4').map((type) => ({
      ...type,
      offerings: type.offerings.map((one) => ({ ...one, price: one.capacityType === 'spot' ? 9 : 1 })),
    }));
    expect(bought('SpotFirst', dear, pod('t4'))).toBe('t4.xlarge spot');
    expect(bought('Strict', dear, pod('t4'))).toBe('t4.xlarge on-demand');
  });

  describe('by weight', () => {
    const weights = (...list: readonly [string, CapacityType, number][]): FlavorRanking => ({
      order: 'Weight',
      weights: list.map(([flavor, capacityType, weight]) => ({ flavor, capacityType, weight })),
    });
    const without = (...gone: readonly string[]): InstanceType[] =>
      BOTH.map((type) => ({
        ...type,
        offerings: type.offerings.map((one) => ({
          ...one,
          healthy: !gone.includes(`${type.name.split('.')[0]} ${one.capacityType}`),
        })),
      }));

    it('is that of the weights, highest first, then that of the flavors for what has no weight', () => {
      const ranking = weights(['t4g', 'on-demand', 10], ['t4', 'spot', 100], ['t4', 'on-demand', 50]);
      expect(bought(ranking, without())).toBe('t4.xlarge spot');
      expect(bought(ranking, without('t4 spot'))).toBe('t4.xlarge on-demand');
      expect(bought(ranking, without('t4 spot', 't4 on-demand'))).toBe('t4g.xlarge on-demand');
      expect(bought(ranking, without('t4 spot', 't4 on-demand', 't4g on-demand'))).toBe('t4g.xlarge spot');
    });

    it('is that of the flavors among equal weights, and by price within a flavor', () => {
      const equal = weights(['t4', 'spot', 5], ['t4g', 'on-demand', 5], ['t4g', 'spot', 5]);
      expect(bought(equal, without())).toBe('t4g.xlarge spot');
      expect(bought(equal, without('t4g spot'))).toBe('t4g.xlarge on-demand');
      expect(bought(equal, without('t4g spot', 't4g on-demand'))).toBe('t4.xlarge spot');
      expect(bought(equal, without('t4g spot', 't4g on-demand', 't4 spot'))).toBe('t4.xlarge on-demand');
    });

    it('takes a node that is there before a purchase of the same weight, and none of a lower one', () => {
      const ranking = weights(['t4', 'spot', 100], ['t4g', 'spot', 50]);
      const models = { ...someModels(DESIGN), ranking };
      const there = (gpu: string, capacityType: CapacityType) => {
        const labels = { [AWS_GPU]: gpu, [LABEL_CAPACITY_TYPE]: capacityType };
        return aGpuNode(gpu, { name: `${gpu} ${capacityType}`, labels });
      };
      const place = (...nodes: readonly StateNode[]) => places(build([pod()], { models, nodes })).a;
      expect(place(there('t4g', 'spot'), there('t4', 'on-demand'))).toBe('t4.xlarge');
      expect(place(there('t4g', 'spot'), there('t4', 'spot'))).toBe('t4 spot');
      // Reserved capacity has the weight of spot, unless it has its own.
      expect(place(there('t4g', 'spot'), there('t4', 'reserved'))).toBe('t4 reserved');
    });

    it('names reserved capacity where it is to have a rank of its own', () => {
      const steps = flavorSteps(
        [{ name: 't4', alternatives: [[]] }],
        weights(['t4', 'spot', 20], ['t4', 'on-demand', 30], ['t4', 'reserved', 10]),
      );
      expect(steps.map(([choice]) => choice?.capacityTypes)).toEqual([['on-demand'], ['spot'], ['reserved']]);
    });

    it('keeps replicas on the capacity that their service asks for, in the order of the weights', () => {
      const flavors = ['t4g', 't4'].map((name) => ({ name, alternatives: [[]] }));
      const ranking = weights(['t4', 'spot', 100], ['t4g', 'on-demand', 50]);
      const order = (capacity: 'spot' | 'on-demand') =>
        replicaSteps(flavors, ranking, capacity).map(([choice]) => [choice?.flavor.name, choice?.capacityTypes.at(-1)]);
      expect(order('spot')).toEqual([
        ['t4', 'spot'],
        ['t4g', 'spot'],
      ]);
      expect(order('on-demand')).toEqual([
        ['t4g', 'on-demand'],
        ['t4', 'on-demand'],
        ['t4', 'spot'],
        ['t4g', 'spot'],
      ]);
    });

    it('can be asked for by a pod, where a policy has weights', () => {
      const { weights: list = [] } = weights(['t4', 'spot', 100]);
      expect(bought({ order: 'Strict', weights: list }, BOTH, own('Weight'))).toBe('t4.xlarge spot');
      expect(bought({ order: 'Strict', weights: list }, BOTH)).toBe('t4g.xlarge spot');
      expect(build([own('Weight')]).held[0]?.problem).toBe(
        'its annotation spindrift.dev/flavor-order is "Weight", and no SpotPolicy has flavorWeights: add them to one, or write another order',
      );
    });
  });

  it('can be that of the pod', () => {
    expect(bought('Strict', BOTH, own('Price'))).toBe('t4.xlarge spot');
    expect(build([own('price')]).held[0]?.problem).toBe(
      'its annotation spindrift.dev/flavor-order is "price": write Strict, SpotFirst, Price, Weight',
    );
  });

  it('is that of the policy with the highest priority that says one', () => {
    const orders = [
      policy('a', 1, { flavorOrder: 'Price' }),
      policy('b', 2, { flavorOrder: 'SpotFirst' }),
      policy('c', 3),
    ];
    expect(flavorRankingOf([])).toEqual({ order: 'Strict' });
    expect(flavorRankingOf(orders)).toEqual({ order: 'SpotFirst' });
    const weighing = (name: string, priority: number, weight: number) => {
      const flavorWeights = [{ flavor: 't4', capacityType: 'spot', weight }] as const;
      return { policy: policy(name, priority, { flavorOrder: 'Weight', flavorWeights }), flavorWeights };
    };
    const [low, high] = [weighing('low', 0, 1), weighing('high', 5, 9)];
    expect(flavorRankingOf([low.policy, ...orders])).toEqual({ order: 'SpotFirst', weights: low.flavorWeights });
    expect(flavorRankingOf([low.policy, ...orders, high.policy])).toEqual({
      order: 'Weight',
      weights: high.flavorWeights,
    });
  });
});

describe('names of GPUs (3)', () => {
  const gpuNames = new GpuNames();
  const named = (key: string, value: string): string[] =>
    gpuNames.alternatives(key, value).map((label) => `${label.key}=${label.value}`);

  it('make one model portable', () => {
    expect(named(AWS_GPU, 't4')).toEqual([
      'karpenter.k8s.aws/instance-gpu-name=t4',
      'karpenter.k8s.gcp/instance-gpu-name=nvidia-tesla-t4',
      'cloud.google.com/gke-accelerator=nvidia-tesla-t4',
      'karpenter.azure.com/sku-gpu-name=T4',
      'karpenter-ibm.sh/instance-gpu-name=t4',
      'spindrift.dev/instance-gpu-name=t4',
    ]);
    const machines = gpuMachines('t4').map(({ labels: _, ...type }) => ({
      ...type,
      labels: { 'karpenter.azure.com/sku-gpu-name': 'T4' },
    }));
    expect(places(build([pod()], { machines, models: { ...someModels(DESIGN), gpuNames } }))).toEqual({
      a: 't4.xlarge',
    });
    expect(places(build([pod()], { machines }))).toEqual({});
  });

  it('never stand for a GPU with less memory', () => {
    expect(named('karpenter.k8s.gcp/instance-gpu-name', 'nvidia-a100-80gb')).toEqual([
      'karpenter.k8s.gcp/instance-gpu-name=nvidia-a100-80gb',
      'cloud.google.com/gke-accelerator=nvidia-a100-80gb',
      'spindrift.dev/instance-gpu-name=a100-80g',
    ]);
    expect(named(AWS_GPU, 'a100')).toContain('karpenter.k8s.gcp/instance-gpu-name=nvidia-tesla-a100');
  });

  it('can be told by a ConfigMap, line by line', () => {
    const { table, problems } = readGpuNames(
      '# ours\nexample.com/gpu=tesla-t4: t4-16\nnonsense\nexample.com/gpu=big: a100-40, a100-80',
    );
    const told = new GpuNames(table);
    expect(told.alternatives(AWS_GPU, 't4')).toContainEqual({ key: 'example.com/gpu', value: 'tesla-t4' });
    expect(told.alternatives('example.com/gpu', 'big')).toContainEqual({ key: AWS_GPU, value: 'a100' });
    expect(problems).toEqual(['"nonsense" is not like example.com/gpu=tesla-t4: t4-16']);
    expect(['known', 'off', 'spindrift/gpus', 'x', 'A/B'].map(parseGpuNamesSetting)).toEqual([
      ...['known', 'off', 'spindrift/gpus'],
      ...[undefined, undefined],
    ]);
  });

  it('leave labels alone that are none', () => {
    expect(named('node.kubernetes.io/instance-type', 't4')).toEqual(['node.kubernetes.io/instance-type=t4']);
    expect(named(AWS_GPU, 'unheard-of')).toEqual([`${AWS_GPU}=unheard-of`]);
  });
});
