/** Pods whose requests are the limits of the chosen flavor instead of the requests in the pod. Pure. */
import type { Container, Pod } from '../apis/kubernetes/pod.ts';
import { ANNOTATION_FLAVOR_LIMITS } from '../apis/spindrift/annotations.ts';
import type { PodFlavor } from './model-flavors.ts';

/** llmaz writes the requests of a flavor on this container. */
const RUNNER = 'model-runner';

/** Whether a pod takes the limits of its flavor, by its annotation. */
export function hasFlavorLimits({ metadata }: Pod): boolean {
  return metadata.annotations?.[ANNOTATION_FLAVOR_LIMITS] === 'true';
}

/** The pod with the requests that it would have on a node of that flavor. */
export function withLimitsOf(pod: Pod, { limits: ofFlavor = {} }: PodFlavor): Pod {
  const { spec } = pod;
  const limits = Object.fromEntries(Object.entries(ofFlavor).map(([key, amount]) => [key, `${amount}`]));
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
  return { ...pod, spec: { ...spec, containers: spec.containers.map(resized) } };
}
