/** What a pod asks for, worked out once for all that are alike: pods of the cache share their containers (see `slim-pods.ts`). */
import type { Container, Pod, PodSpec } from '../apis/kubernetes/pod.ts';
import { podRequests, type ResourceAmounts } from '../apis/kubernetes/pod-requests.ts';
import type { Resources } from '../engine/problem.ts';
import { resources } from './pod-group.ts';

export interface KnownRequests {
  readonly amounts: ResourceAmounts;
  /** The same as the engine counts them. */
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

/** Whether the rest of what counts is the very same, too. */
function hasSame(a: Rest, b: Rest): boolean {
  return a.initContainers === b.initContainers && a.overhead === b.overhead && a.resources === b.resources;
}
