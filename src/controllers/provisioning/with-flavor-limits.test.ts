import { describe, expect, it } from 'vitest';
import type { CapacityType } from '../../apis/karpenter/labels.ts';
import { aNodePool } from '../../apis/karpenter/testkit/a-node-pool.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { ANNOTATION_FLAVOR_LIMITS } from '../../apis/spindrift/annotations.ts';
import type { InstanceType } from '../../engine/problem.ts';
import { solve } from '../../engine/solve.ts';
import { buildProblem } from '../../state/build-problem.ts';
import type { FlavorRanking } from '../../state/flavor-order.ts';
import type { ModelLookup } from '../../state/model-flavors.ts';
import { aFleetSnapshot } from '../../state/testkit/a-fleet-snapshot.ts';
import { AWS_GPU, aFlavor, aModel, aModelPod, someModels } from '../../state/testkit/a-model.ts';
import { aStateNode } from '../../state/testkit/a-state-node.ts';
import { withFlavorLimits } from './with-flavor-limits.ts';

const flavor = (name: string, gpus: number) => ({ ...aFlavor(name), limits: { 'nvidia.com/gpu': gpus } });
const MODELS = someModels(aModel('big', [flavor('a100-80g', 2), flavor('a100', 4)]));

function machine(gpu: string, count: number, price: number, capacityType: CapacityType = 'spot'): InstanceType {
  return {
    name: `${gpu}-${count}`,
    labels: { [AWS_GPU]: gpu },
    capacity: { cpu: 96_000, memory: 512 * 1024 ** 3, pods: 100, 'nvidia.com/gpu': count },
    offerings: [{ zone: 'sim-1a', capacityType, price }],
  };
}

/** It asks for two GPUs, as llmaz writes it for the first flavor. */
function aPod(name: string, says = 'true'): Pod {
  const { metadata, spec } = aModelPod(name, 'big');
  const requests = { cpu: '1', 'nvidia.com/gpu': '2' };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...metadata, annotations: { [ANNOTATION_FLAVOR_LIMITS]: says } },
    spec: { ...spec, containers: [{ name: 'model-runner', image: 'vllm', resources: { requests } }] },
  };
}

/** What is bought, with how many pods on each. */
function bought(pods: readonly Pod[], ...instanceTypes: readonly InstanceType[]): Record<string, number[]> {
  return boughtBy(MODELS, pods, ...instanceTypes);
}

function boughtBy(
  models: ModelLookup,
  pods: readonly Pod[],
  ...instanceTypes: readonly InstanceType[]
): Record<string, number[]> {
  const pools = [{ pool: aNodePool(), instanceTypes }];
  const built = buildProblem(withFlavorLimits({ pending: pods, ...aFleetSnapshot({ pools, models }) }));
  const found: Record<string, number[]> = {};
  for (const { offerings, pods: numbers } of solve(built.problem, { maxSteps: 100_000 }).newNodes)
    found[offerings[0]?.instanceType ?? ''] = [...(found[offerings[0]?.instanceType ?? ''] ?? []), numbers.length];
  return found;
}

describe('flavors with different limits', () => {
  const small = machine('a100', 2, 2);
  const four = machine('a100', 4, 4);
  const eight = machine('a100', 8, 7);

  it('are each planned with their own: four GPUs of 40 GB where two of 80 GB cannot be had (2, 16)', () => {
    expect(bought([aPod('a')], small, four)).toEqual({ 'a100-4': [1] });
    expect(bought([aPod('a')], small, four, machine('a100-80g', 2, 9))).toEqual({ 'a100-80g-2': [1] });
  });

  it('share a machine only as far as their limits do (16)', () => {
    expect(bought([aPod('a'), aPod('b'), aPod('c')], eight)).toEqual({ 'a100-8': [2, 1] });
  });

  it('are tried in the ranks of the SpotPolicy: four GPUs on spot before two on demand (2)', () => {
    const machines = [machine('a100-80g', 2, 9, 'on-demand'), four];
    const ranked = (ranking: FlavorRanking): Record<string, number[]> =>
      boughtBy({ ...MODELS, ranking }, [aPod('a')], ...machines);
    expect(ranked({ order: 'Strict' })).toEqual({ 'a100-80g-2': [1] });
    expect(ranked({ order: 'SpotFirst' })).toEqual({ 'a100-4': [1] });
    const weights = [{ flavor: 'a100', capacityType: 'spot', weight: 1 }] as const;
    expect(ranked({ order: 'Weight', weights })).toEqual({ 'a100-4': [1] });
  });

  it('hold for pods of nodes that go, and the plan names the pods themselves (4)', () => {
    const node = aStateNode({ name: 'goes' });
    const { spec, ...rest } = aPod('a');
    const runs = { ...rest, spec: { ...spec, nodeName: 'goes' } };
    const pools = [{ pool: aNodePool(), instanceTypes: [small, four] }];
    const snapshot = aFleetSnapshot({ pools, models: MODELS, nodes: [node], pods: [runs], isClosed: () => true });
    const built = buildProblem(withFlavorLimits({ pending: [], displaced: [runs], ...snapshot }));
    expect(solve(built.problem).newNodes.map(({ offerings: [first] }) => first?.instanceType)).toEqual(['a100-4']);
    expect(built.pods).toEqual([runs]);
    expect(built.pods[0]).toBe(runs);
  });

  it('mean nothing where the workload does not say so', () => {
    expect(bought([aPod('a', 'false')], small, four)).toEqual({ 'a100-2': [1] });
  });

  it('leave a pod without a place where none of them has room', () => {
    expect(bought([aPod('a')], small)).toEqual({});
  });
});
