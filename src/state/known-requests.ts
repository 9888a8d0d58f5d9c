/** The requests of a pod, computed once for equal pods: cached pods share their containers (see `slim-pods.ts`). */
import type { Container, Pod, PodSpec } from '../apis/kubernetes/pod.ts';
import { podRequests, type ResourceAmounts } from '../apis/kubernetes/pod-requests.ts';
import type { Resources } from '../engine/problem.ts';
import { resources } from './pod-group.ts';

export interface KnownRequests {
  readonly amounts: ResourceAmounts;
  /** The same in the engine's units. */
  readonly resources: Resources;
}

type Rest = Pick<PodSpec, 'initContainers' | 'overhead' | 'resources'>;

const KNOWN = new WeakMap<readonly Container[], { readonly rest: Rest; readonly requests: KnownRequests }>();

export function knownRequests(pod: Pod): KnownRequests {
  const { spec } = pod;
  const known = KNOWN.get(spec.containers);
  if (known !== undefined && hasSame(known.rest, spec)) return known.requests;
  const amounts = podRequests(pod);
  const requests = { amounts, resources: resources(amounts) };
  KNOWN.set(spec.containers, { rest: spec, requests });
  return requests;
}

/** Whether the other fields that count are identical too. */
function hasSame(a: Rest, b: Rest): boolean {
  return a.initContainers === b.initContainers && a.overhead === b.overhead && a.resources === b.resources;
}
