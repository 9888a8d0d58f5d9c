/**
 * Turns a Playground into the Deployment that llmaz would make: its label, flavors, and the requests of its first flavor.
 * These decide about nodes; images and arguments do not.
 */

import type { KubeObject } from '../../apis/kubernetes/object.ts';
import { ANNOTATION_FLAVORS, LABEL_MODEL_NAME } from '../../apis/llmaz/labels.ts';
import type { Flavor, OpenModel } from '../../apis/llmaz/open-model.ts';
import type { Playground } from '../../apis/llmaz/playground.ts';
import { hint } from '../../platform/nearest.ts';
import type { Manifest } from './read-manifests.ts';

/** Replaces each Playground by its Deployment; reports Playgrounds that are wrong. */
export function playgroundsAsWorkloads(manifests: readonly Manifest[]): {
  readonly manifests: readonly Manifest[];
  readonly problems: readonly string[];
} {
  const models = new Map<string, OpenModel>();
  for (const { object } of manifests)
    if (object.kind === 'OpenModel') models.set(object.metadata.name ?? '', object as OpenModel);
  const problems: string[] = [];
  const read = manifests.map(({ source, object }): Manifest => {
    if (object.kind !== 'Playground' || !object.apiVersion.startsWith('inference.llmaz.io/')) return { source, object };
    const made = workloadOf(object as Playground, models);
    if (!('problem' in made)) return { source, object: made };
    problems.push(`${source}: Playground ${object.metadata.name}: ${made.problem}`);
    return { source, object };
  });
  return { manifests: read, problems };
}

function workloadOf(
  { metadata, spec }: Playground,
  models: ReadonlyMap<string, OpenModel>,
): KubeObject | { readonly problem: string } {
  const { modelClaim, modelClaims, replicas = 1, backendRuntimeConfig } = spec ?? {};
  const main = modelClaims?.models?.find(({ role = 'main' }) => role === 'main') ?? modelClaims?.models?.[0];
  const name = modelClaim?.modelName ?? main?.name;
  if (name === undefined || name === '')
    return { problem: 'spec.modelClaim.modelName is missing: name the OpenModel that it serves' };
  const model = models.get(name);
  if (model === undefined)
    return {
      problem: `OpenModel ${name} is not given${hint(name, [...models.keys()])}: name its manifest with -f too`,
    };
  const picked = modelClaim?.inferenceFlavors ?? modelClaims?.inferenceFlavors ?? [];
  const known: readonly Flavor[] = model.spec?.inferenceConfig?.flavors ?? [];
  const first = picked.length === 0 ? known[0] : known.find((flavor) => flavor.name === picked[0]);
  const limits = first?.limits ?? {};
  const labels = { [LABEL_MODEL_NAME]: name, 'app.kubernetes.io/name': metadata.name ?? '' };
  const annotations = picked.length === 0 ? {} : { annotations: { [ANNOTATION_FLAVORS]: picked.join(',') } };
  const requests = { ...backendRuntimeConfig?.resources?.requests, ...limits };
  const container = { name: 'model-runner', image: 'llmaz', resources: { requests, limits } };
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: metadata.name ?? '',
      ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
    },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels, ...annotations }, spec: { containers: [container] } },
    },
  };
  return deployment;
}
