import { expect, it } from 'vitest';
import type { LimitRange } from '../apis/kubernetes/limit-range.ts';
import type { KubeObject } from '../apis/kubernetes/object.ts';
import type { Pod, PodPhase, ResourceRequirements } from '../apis/kubernetes/pod.ts';
import { podRequests } from '../apis/kubernetes/pod-requests.ts';
import type { DaemonSet } from '../apis/kubernetes/workloads.ts';
import type { InformerHandler } from '../kube/informer.ts';
import { DaemonPods } from './daemon-pods.ts';

class Shown<T extends KubeObject> {
  readonly #items = new Map<string, T>();
  readonly #handlers: InformerHandler<T>[] = [];

  list(): T[] {
    return [...this.#items.values()];
  }

  addHandler(handler: InformerHandler<T>): () => void {
    this.#handlers.push(handler);
    return () => {};
  }

  add(object: T): void {
    this.#items.set(object.metadata.name ?? '', object);
    for (const handler of this.#handlers) handler.added?.(object);
  }

  remove(object: T): void {
    this.#items.delete(object.metadata.name ?? '');
    for (const handler of this.#handlers) handler.deleted?.(object, object);
  }
}

function daemons(resources: ResourceRequirements = {}) {
  const pods = new Shown<Pod>();
  const daemonSets = new Shown<DaemonSet>();
  const limitRanges = new Shown<LimitRange>();
  const template = { metadata: { labels: { app: 'agent' } }, spec: { containers: [{ name: 'main', resources }] } };
  daemonSets.add({
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'agent', namespace: 'system', uid: 'ds', generation: 3 },
    spec: { selector: { matchLabels: { app: 'agent' } }, template },
  } as unknown as DaemonSet);
  const list = new DaemonPods({ pods, daemonSets, limitRanges } as never);
  return {
    ...{ pods, limitRanges, list },
    cpu: () => list.list().map(({ spec }) => Number(podRequests(spec.template).cpu ?? 0n)),
  };
}

function daemonPod(name: string, cpu: string, second: number, phase: PodPhase = 'Running', generation = '3'): Pod {
  const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: 'ds', controller: true };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...{ name, namespace: 'system', uid: name, ownerReferences: [owner] },
      labels: { 'pod-template-generation': generation },
      creationTimestamp: `2030-01-01T00:00:0${second}Z`,
    },
    spec: { containers: [{ name: 'main', resources: { requests: { cpu } } }], nodeName: name },
    status: { phase },
  };
}

function aRange(cpu: string, namespace = 'system'): LimitRange {
  const limits = [{ type: 'Container' as const, default: { cpu } }];
  return {
    apiVersion: 'v1',
    kind: 'LimitRange',
    metadata: { name: `range-${namespace}`, namespace },
    spec: { limits },
  };
}

it('believes the newest pod before the template', () => {
  const { pods, cpu } = daemons({ requests: { cpu: '100m' } });
  expect(cpu()).toEqual([100]);
  pods.add(daemonPod('new', '2', 5));
  pods.add(daemonPod('old', '1', 3));
  expect(cpu()).toEqual([2000]);
});

it('believes a pod that has no room, but not one that has ended or is of a former template', () => {
  const { pods, cpu } = daemons({ requests: { cpu: '100m' } });
  pods.add(daemonPod('ended', '4', 1, 'Failed'));
  pods.add(daemonPod('former', '3', 2, 'Running', '2'));
  expect(cpu()).toEqual([100]);
  pods.add(daemonPod('waiting', '2', 4, 'Pending'));
  expect(cpu()).toEqual([2000]);
});

it('looks for another pod when the newest is gone, and goes back to the template when there is none', () => {
  const { pods, cpu } = daemons();
  const [one, two] = [daemonPod('one', '1', 1), daemonPod('two', '2', 2)];
  pods.add(one);
  pods.add(two);
  pods.remove(two);
  expect(cpu()).toEqual([1000]);
  pods.remove(one);
  expect(cpu()).toEqual([0]);
});

it('fills a template without pods as the API server would', () => {
  const { limitRanges, cpu } = daemons({ limits: { memory: '1Gi' } });
  const range = aRange('3');
  limitRanges.add(aRange('9', 'elsewhere'));
  expect(cpu()).toEqual([0]);
  limitRanges.add(range);
  expect(cpu()).toEqual([3000]);
  limitRanges.remove(range);
  expect(cpu()).toEqual([0]);
});

it('gives the same objects as long as nothing changes', () => {
  const { pods, list } = daemons();
  pods.add(daemonPod('one', '1', 1));
  expect(list.list()[0]).toBe(list.list()[0]);
});
