import { describe, expect, it } from 'vitest';
import type { Pod, PodSpec } from '../apis/kubernetes/pod.ts';
import { knownRequests } from './known-requests.ts';

const CONTAINERS = [{ name: 'main', resources: { requests: { cpu: '500m', memory: '1Gi' } } }];

function aPod(parts: Partial<PodSpec> = {}): Pod {
  return { apiVersion: 'v1', kind: 'Pod', metadata: {}, spec: { containers: CONTAINERS, ...parts } };
}

describe('what a pod is known to ask for', () => {
  it('is what its containers ask for, exactly and as the engine counts', () => {
    const { amounts, resources } = knownRequests(aPod());
    expect(amounts).toEqual({ cpu: 500n, memory: 1024n ** 3n });
    expect(resources).toEqual({ cpu: 500, memory: 1024 ** 3 });
  });

  it('is worked out once for pods with the same containers', () => {
    expect(knownRequests(aPod({ nodeName: 'a' }))).toBe(knownRequests(aPod({ nodeName: 'b' })));
  });

  it.each<[string, Partial<PodSpec>, bigint]>([
    ['an init container', { initContainers: [{ name: 'first', resources: { requests: { cpu: '2' } } }] }, 2000n],
    ['an overhead', { overhead: { cpu: '20m' } }, 520n],
    ['requests of the pod as a whole', { resources: { requests: { cpu: '1' } } }, 1000n],
  ])('differs where the same containers have %s beside them', (_, parts, cpu) => {
    expect(knownRequests(aPod()).amounts.cpu).toBe(500n);
    expect(knownRequests(aPod(parts)).amounts.cpu).toBe(cpu);
    expect(knownRequests(aPod()).amounts.cpu).toBe(500n);
  });
});
