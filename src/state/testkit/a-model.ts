import type { Pod, PodSpec } from '../../apis/kubernetes/pod.ts';
import { ANNOTATION_FLAVORS, LABEL_MODEL_NAME } from '../../apis/llmaz/labels.ts';
import type { Flavor, OpenModel } from '../../apis/llmaz/open-model.ts';
import type { InstanceType } from '../../engine/problem.ts';
import type { ModelLookup } from '../model-flavors.ts';
import { aPodAsking } from './a-state-node.ts';

export const AWS_GPU = 'karpenter.k8s.aws/instance-gpu-name';

/** A flavor with one GPU of that name, as the design's example has it. */
export function aFlavor(name: string, nodeSelector: Readonly<Record<string, string>> = { [AWS_GPU]: name }): Flavor {
  return { name, limits: { 'nvidia.com/gpu': 1 }, nodeSelector };
}

/** A model with flavors of these names. */
export function aModel(name: string, flavors: readonly (Flavor | string)[] | undefined): OpenModel {
  const all = flavors?.map((flavor) => (typeof flavor === 'string' ? aFlavor(flavor) : flavor));
  return {
    apiVersion: 'llmaz.io/v1alpha1',
    kind: 'OpenModel',
    metadata: { name },
    spec: {
      familyName: 'qwen2',
      source: { modelHub: { name: 'Huggingface', modelID: 'Qwen/Qwen2-0.5B-Instruct', revision: 'main' } },
      ...(all === undefined ? {} : { inferenceConfig: { flavors: all } }),
    },
  };
}

/** These models, and no others. */
export function someModels(...models: readonly OpenModel[]): ModelLookup {
  const byName = new Map(models.map((model) => [model.metadata.name, model]));
  return { presence: 'read', model: (name) => byName.get(name) };
}

/** A pod that serves a model with one GPU. */
export function aModelPod(name: string, model: string, flavors?: string, spec: Partial<PodSpec> = {}): Pod {
  const pod = aPodAsking(name, { cpu: '1', 'nvidia.com/gpu': '1' }, spec);
  const annotations = flavors === undefined ? {} : { annotations: { [ANNOTATION_FLAVORS]: flavors } };
  return { ...pod, metadata: { ...pod.metadata, labels: { [LABEL_MODEL_NAME]: model }, ...annotations } };
}

/** Machines with one GPU of each name, spot and on-demand; later ones are cheaper. */
export function gpuMachines(...names: readonly string[]): InstanceType[] {
  return names.map((name, index) => ({
    name: `${name}.xlarge`,
    labels: { [AWS_GPU]: name },
    capacity: { cpu: 4000, memory: 16 * 1024 ** 3, pods: 29, 'nvidia.com/gpu': 1 },
    offerings: (['spot', 'on-demand'] as const).map((capacityType) => ({
      zone: 'sim-1a',
      capacityType,
      price: (capacityType === 'spot' ? 0.3 : 1) * (names.length - index),
    })),
  }));
}
