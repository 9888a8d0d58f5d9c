import { describe, expect, it } from 'vitest';
import type { Container, PodSpec, ResourceList } from './pod.ts';
import { assumedPodRequests, podRequests } from './pod-requests.ts';

const MI = 1024n * 1024n;
const container = (requests: ResourceList): Container => ({ name: 'c', resources: { requests } });
const sidecar = (requests: ResourceList): Container => ({ ...container(requests), restartPolicy: 'Always' });
const requests = (spec: PodSpec) => podRequests({ spec });

describe("a pod's requests", () => {
  it('are the sum of its containers', () => {
    expect(requests({ containers: [container({ cpu: '250m', memory: '1Mi' }), container({ cpu: '1' })] })).toEqual({
      cpu: 1250n,
      memory: MI,
    });
  });

  it('are at least what the largest init container needs', () => {
    const spec = {
      containers: [container({ cpu: '1' })],
      initContainers: [container({ cpu: '3' }), container({ cpu: '2' })],
    };
    expect(requests(spec)).toEqual({ cpu: 3000n });
  });

  it('count a sidecar with the containers, and with the init containers that start after it', () => {
    const initContainers = [container({ cpu: '2' }), sidecar({ cpu: '1' }), container({ cpu: '3' })];
    expect(requests({ containers: [container({ cpu: '1' })], initContainers })).toEqual({ cpu: 4000n });
    expect(requests({ containers: [container({ cpu: '5' })], initContainers })).toEqual({ cpu: 6000n });
  });

  it('are what the pod as a whole asks for, for the resources where it does', () => {
    const spec = {
      containers: [container({ cpu: '1', memory: '1Mi', 'example.com/gpu': '1' })],
      resources: { requests: { cpu: '4', 'example.com/gpu': '9' } },
    };
    expect(requests(spec)).toEqual({ cpu: 4000n, memory: MI, 'example.com/gpu': 1n });
  });

  it('include the overhead of running it', () => {
    expect(requests({ containers: [container({ cpu: '1' })], overhead: { cpu: '100m', memory: '1Mi' } })).toEqual({
      cpu: 1100n,
      memory: MI,
    });
  });

  it('are rounded up to whole units', () => {
    expect(requests({ containers: [container({ cpu: '0.1m', memory: '1.5' })] })).toEqual({ cpu: 1n, memory: 2n });
  });

  it('are assumed, for spreading, where a container does not say', () => {
    const spec = { containers: [container({ cpu: '1' }), { name: 'd' }] };
    expect(assumedPodRequests({ spec })).toEqual({ cpu: 1100n, memory: 400n * MI });
  });
});
