/** Pods that take of their node what the limits of its flavor say, not what their own requests say. Pure. */
import type { Container, Pod } from '../apis/kubernetes/pod.ts';
import { ANNOTATION_FLAVORS } from '../apis/llmaz/labels.ts';
import { ANNOTATION_FLAVOR_LIMITS } from '../apis/spindrift/annotations.ts';
import type { PodFlavor } from './model-flavors.ts';

/** The container that llmaz writes the requests of a flavor on. */
const RUNNER = 'model-runner';

/** Whether the workload of a pod says so. */
export function hasFlavorLimits({ metadata }: Pod): boolean {
  return metadata.annotations?.[ANNOTATION_FLAVOR_LIMITS] === 'true';
}

/** The pod as it is on a node of that flavor, and of no other. */
export function asFlavor(pod: Pod, flavor: PodFlavor): Pod {
  const { metadata, spec } = pod;
  const { name } = flavor;
  const limits = Object.fromEntries(Object.entries(flavor.limits ?? {}).map(([key, amount]) => [key, `${amount}`]));
  const runner = spec.containers.find((container) => container.name === RUNNER) ?? spec.containers[0];
  const resized = (container: Container): Container =>
    container === runner
      ? {
          ...container,
          resources: {
            ...container.resources,
            requests: { ...container.resources?.requests, ...limits },
            limits: { ...container.resources?.limits, ...limits },
          },
        }
      : container;
  return {
    ...pod,
    metadata: { ...metadata, annotations: { ...metadata.annotations, [ANNOTATION_FLAVORS]: name } },
    spec: { ...spec, containers: spec.containers.map(resized) },
  };
}
