import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aNodePool } from '../apis/karpenter/testkit/a-node-pool.ts';
import type { Node } from '../apis/kubernetes/node.ts';
import type { Pod } from '../apis/kubernetes/pod.ts';
import { solve } from '../engine/solve.ts';
import { buildProblem } from './build-problem.ts';
import { fullImageName } from './model-locality.ts';
import { slimNode } from './slim-node.ts';
import { SlimPods } from './slim-pods.ts';
import type { StateNode } from './state-node.ts';
import { aFleetSnapshot } from './testkit/a-fleet-snapshot.ts';
import { AWS_GPU, aModel, aModelPod, gpuMachines, someModels } from './testkit/a-model.ts';
import { aStateNode } from './testkit/a-state-node.ts';

const GB = 2 ** 30;
const CACHE = { 'model-cache.spindrift.dev/qwen2-0--5b': 'true' };

interface NodeParts {
  readonly gpu?: string;
  readonly images?: NonNullable<Node['status']>['images'];
  readonly labels?: Record<string, string>;
}

function aGpuNode(name: string, { gpu = 't4g', images, labels }: NodeParts = {}): StateNode {
  const allocatable = { cpu: '4', memory: '16Gi', pods: '29', 'nvidia.com/gpu': '1' };
  const { node, ...state } = aStateNode({ name, allocatable, labels: { [AWS_GPU]: gpu, ...labels } });
  return { ...state, node: slimNode({ ...node, status: { ...node.status, ...(images && { images }) } }) };
}

function holding(image: string, sizeBytes = 8 * GB): NodeParts {
  return { images: [{ names: [`${image}@sha256:1`, image], sizeBytes }] };
}

/** A pod as cached. */
function aPod(name = 'a', image = 'vllm/vllm-openai:v1'): Pod {
  const pod = aModelPod(name, 'qwen2-0--5b');
  const containers = pod.spec.containers.map((container) => ({ ...container, image }));
  return new SlimPods().of({ ...pod, spec: { ...pod.spec, containers } });
}

/** Where pods are placed: nodes by name, or the instance type launched. */
function places(pods: readonly Pod[], nodes: readonly StateNode[], machines = gpuMachines('t4g', 't4')): string[] {
  const models = someModels(aModel('qwen2-0--5b', ['t4g', 't4']));
  const pools = [{ pool: aNodePool(), instanceTypes: machines }];
  const { problem } = buildProblem({ pending: pods, ...aFleetSnapshot({ pools, models, nodes }) });
  const { existing, newNodes } = solve(problem, { maxSteps: 100_000 });
  return [
    ...existing.flatMap(({ node, pods: here }) => here.map(() => node)),
    ...newNodes.flatMap(({ offerings, pods: here }) => here.map(() => offerings[0]?.instanceType ?? '')),
  ].sort();
}

describe('a pod of a model', () => {
  it('is put on a node that holds its image before others, however both are written (5)', () => {
    const nodes = [aGpuNode('bare'), aGpuNode('warm', holding('docker.io/vllm/vllm-openai:v1'))];
    expect(places([aPod()], nodes)).toEqual(['warm']);
    expect(places([aPod('a', 'vllm/vllm-openai:v2')], nodes)).toEqual(['bare']);
  });

  it('is put on a node that holds a cache of its model before one with its image only, and on one with both before all (5)', () => {
    const image = holding('docker.io/vllm/vllm-openai:v1');
    const nodes = [
      aGpuNode('bare'),
      aGpuNode('image', image),
      aGpuNode('cache', { labels: CACHE }),
      aGpuNode('both', { ...image, labels: CACHE }),
    ];
    for (const best of ['both', 'cache', 'image', 'bare']) {
      expect(places([aPod()], nodes)).toEqual([best]);
      nodes.splice(
        nodes.findIndex(({ name }) => name === best),
        1,
      );
    }
  });

  it('is never put on a later flavor for it, and nothing is bought for it (5, 20)', () => {
    const warm = aGpuNode('warm', { gpu: 't4', ...holding('docker.io/vllm/vllm-openai:v1'), labels: CACHE });
    expect(places([aPod()], [aGpuNode('bare'), warm])).toEqual(['bare']);
    expect(places([aPod()], [warm])).toEqual(['t4g.xlarge']);
    expect(places([aPod()], [aGpuNode('bare')])).toEqual(['bare']);
  });

  it('does not care for images that are fetched in seconds', () => {
    const small = holding('docker.io/vllm/vllm-openai:v1', GB / 8);
    expect(places([aPod()], [aGpuNode('bare'), aGpuNode('warm', small)])).toEqual(['bare']);
  });

  it('is on as good a node as any, for any nodes and pods, and as many are placed as without', () => {
    const node = fc.record({ gpu: fc.constantFrom('t4g', 't4'), image: fc.boolean(), cache: fc.boolean() });
    fc.assert(
      fc.property(fc.array(node, { maxLength: 6 }), fc.integer({ min: 1, max: 4 }), (drawn, count) => {
        const nodes = drawn.map(({ gpu, image, cache }, index) =>
          aGpuNode(`n${index}`, {
            gpu,
            ...(image && holding('docker.io/vllm/vllm-openai:v1')),
            ...(cache && { labels: CACHE }),
          }),
        );
        const worth = (name: string): number => {
          const { gpu, image, cache } = drawn[Number(name.slice(1))] as (typeof drawn)[number];
          return gpu === 't4g' ? 4 + Number(cache) * 2 + Number(image) : 0;
        };
        const pods = Array.from({ length: count }, (_, index) => aPod(`p${index}`));
        const used = places(pods, nodes).filter((name) => name.startsWith('n'));
        // A pool sells the first flavor, so nodes of the second are not used at all.
        const best = nodes
          .map(({ name }) => worth(name))
          .filter((each) => each > 0)
          .sort((a, b) => b - a)
          .slice(0, count);
        expect(used.map(worth).sort((a, b) => b - a)).toEqual(best);
        expect(places(pods, nodes)).toHaveLength(count);
      }),
      { numRuns: 50 },
    );
  });
});

describe('the full name of an image', () => {
  it.each([
    ['nginx', 'docker.io/library/nginx:latest'],
    ['vllm/vllm-openai:v1', 'docker.io/vllm/vllm-openai:v1'],
    ['ghcr.io/org/app', 'ghcr.io/org/app:latest'],
    ['localhost/app:1', 'localhost/app:1'],
    ['registry:5000/app', 'registry:5000/app:latest'],
    ['org/app@sha256:1', 'docker.io/org/app@sha256:1'],
  ])('of %s is %s', (name, full) => {
    expect(fullImageName(name)).toBe(full);
  });
});
