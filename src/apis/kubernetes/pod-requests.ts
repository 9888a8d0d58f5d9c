/** Resource requests of a pod, as the scheduler counts them (KEP-753 for sidecars, KEP-2837 for pod-level resources). */

import type { Container, Pod, PodSpec, ResourceList } from './pod.ts';
import { milliValue, wholeValue } from './quantity.ts';

/** Amount by resource: `cpu` in milli-cores, everything else in whole units. */
export type ResourceAmounts = Readonly<Record<string, bigint>>;

/** Requests that kube-scheduler assumes for containers without any, only for scoring. */
const ASSUMED: ResourceAmounts = { cpu: 100n, memory: 200n * 1024n * 1024n };

/** The amount of one resource as the scheduler counts it. */
export function resourceAmount(name: string, quantity: string | number): bigint {
  return name === 'cpu' ? milliValue(quantity) : wholeValue(quantity);
}

/** The amounts of a list such as a node's allocatable. */
export function resourceAmounts(list: ResourceList | undefined): ResourceAmounts {
  const amounts: Record<string, bigint> = {};
  for (const name in list) amounts[name] = resourceAmount(name, list[name] as string);
  return amounts;
}

/** The requests that a node must have free. */
export function podRequests(pod: Pick<Pod, 'spec'>): ResourceAmounts {
  return total(pod.spec, (container) => resourceAmounts(container.resources?.requests));
}

/** The same with assumed cpu and memory for containers without requests, so that such pods spread as well. */
export function assumedPodRequests(pod: Pick<Pod, 'spec'>): ResourceAmounts {
  return total(pod.spec, (container) => ({ ...ASSUMED, ...resourceAmounts(container.resources?.requests) }));
}

function total(spec: PodSpec, requestsOf: (container: Container) => ResourceAmounts): ResourceAmounts {
  const running: Record<string, bigint> = {};
  for (const container of spec.containers) add(running, requestsOf(container));
  const starting: Record<string, bigint> = {};
  const sidecars: Record<string, bigint> = {};
  for (const container of spec.initContainers ?? []) {
    const requests = requestsOf(container);
    if (container.restartPolicy === 'Always') {
      add(running, requests);
      add(sidecars, requests);
      raise(starting, sidecars);
    } else {
      const together = { ...sidecars };
      add(together, requests);
      raise(starting, together);
    }
  }
  raise(running, starting);
  for (const [name, quantity] of Object.entries(spec.resources?.requests ?? {})) {
    if (isPodLevelResource(name)) running[name] = resourceAmount(name, quantity);
  }
  add(running, resourceAmounts(spec.overhead));
  return running;
}

/** The resources that pod-level requests can have. */
function isPodLevelResource(name: string): boolean {
  return name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');
}

function add(sum: Record<string, bigint>, more: ResourceAmounts): void {
  for (const name in more) sum[name] = (sum[name] ?? 0n) + (more[name] as bigint);
}

function raise(least: Record<string, bigint>, to: ResourceAmounts): void {
  for (const name in to) {
    const amount = to[name] as bigint;
    if (amount > (least[name] ?? 0n) || least[name] === undefined) least[name] = amount;
  }
}
