/** Pods that serve models with flavors, as the controller asks for them: read from pods and models, not written as a question. */
import type { NodePool } from '../../src/apis/karpenter/node-pool.ts';
import { NODE_POOL_SPEC } from '../../src/apis/karpenter/node-pool-schema.ts';
import type { Pod } from '../../src/apis/kubernetes/pod.ts';
import { LABEL_MODEL_NAME } from '../../src/apis/llmaz/labels.ts';
import type { OpenModel } from '../../src/apis/llmaz/open-model.ts';
import { withDefaults } from '../../src/apis/schema/with-defaults.ts';
import { catalogueOf } from '../../src/cloud/simulated/regional-catalogue.ts';
import type { InstanceType, Problem } from '../../src/engine/problem.ts';
import type { Random } from '../../src/platform/random.ts';
import { buildProblem } from '../../src/state/build-problem.ts';
import { GpuNames } from '../../src/state/gpu-names.ts';

const AWS_GPU = 'karpenter.k8s.aws/instance-gpu-name';
const GPUS = ['t4', 't4g', 'a10g', 'l4', 'l40s', 'v100', 'a100', 'h100', 'h200'];
const MODELS = 40;
const FLAVORS = 8;

/** Pods of 40 models with eight flavors each, on a market where half of the GPU offerings are sold out. */
export function modelsProblem(podCount: number, random: Random): Problem {
  const draw = random.split('models');
  const models = new Map<string, OpenModel>();
  for (let index = 0; index < MODELS; index++) models.set(`model-${index}`, aModel(`model-${index}`, draw));
  const types = catalogueOf([{ name: 'sim-1', zones: ['sim-1a', 'sim-1b', 'sim-1c'] }])
    .filter(({ capacity }) => (capacity['nvidia.com/gpu'] ?? 0) > 0)
    .map(
      (type): InstanceType => ({
        ...type,
        offerings: type.offerings.map((one) => ({ ...one, healthy: draw.next() < 0.5 })),
      }),
    );
  const pending = Array.from({ length: podCount }, (_, index) => aPod(index, 1 + (index % MODELS) / 10));
  const { problem, held } = buildProblem({
    pending,
    nodes: [],
    podsOn: () => [],
    daemonSets: [],
    pools: [{ pool: POOL, instanceTypes: types }],
    namespaces: [],
    storage: { claim: () => undefined, volume: () => undefined, storageClass: () => undefined },
    models: { presence: 'read', model: (name) => models.get(name), gpuNames: new GpuNames() },
  });
  if (held.length > 0) throw new Error(`${held.length} pods are held back: ${held[0]?.problem}`);
  return problem;
}

const POOL: NodePool = {
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodePool',
  metadata: { name: 'inference' },
  spec: withDefaults(NODE_POOL_SPEC, {
    template: {
      spec: {
        nodeClassRef: { group: 'spindrift.dev', kind: 'SimulatedNodeClass', name: 'gpu' },
        requirements: [{ key: 'karpenter.sh/capacity-type', operator: 'In', values: ['spot', 'on-demand'] }],
      },
    },
  }),
};

function aModel(name: string, draw: Random): OpenModel {
  const flavors = draw
    .shuffle(GPUS)
    .slice(0, FLAVORS)
    .map((gpu) => ({ name: gpu, limits: { 'nvidia.com/gpu': 1 }, nodeSelector: { [AWS_GPU]: gpu } }));
  return {
    apiVersion: 'llmaz.io/v1alpha1',
    kind: 'OpenModel',
    metadata: { name },
    spec: { inferenceConfig: { flavors } },
  };
}

function aPod(index: number, cores: number): Pod {
  const requests = { cpu: `${Math.round(cores * 1000)}m`, memory: '8Gi', 'nvidia.com/gpu': '1' };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `pod-${index}`, namespace: 'default', labels: { [LABEL_MODEL_NAME]: `model-${index % MODELS}` } },
    spec: { containers: [{ name: 'model-runner', image: 'vllm', resources: { requests } }] },
  };
}
