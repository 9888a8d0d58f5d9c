import { describe, expect, it } from 'vitest';
import type { Node } from '../../../apis/kubernetes/node.ts';
import type { KubeObject } from '../../../apis/kubernetes/object.ts';
import type { Pod } from '../../../apis/kubernetes/pod.ts';
import type { InformerHandler } from '../../../kube/informer.ts';
import type { ClusterInformers } from '../../../state/cluster-informers.ts';
import { aRunningPod } from '../../../state/testkit/a-fleet-snapshot.ts';
import { aStateNode } from '../../../state/testkit/a-state-node.ts';
import { ChangeStamp } from './change-stamp.ts';

/** Informers that say what they are told to. */
class Heard {
  readonly #handlers = new Map<string, InformerHandler<KubeObject>>();

  informers(): ClusterInformers {
    const follow = (kind: string) => ({
      addHandler: (handler: InformerHandler<KubeObject>) => {
        this.#handlers.set(kind, handler);
        return () => {};
      },
    });
    return new Proxy({}, { get: (_, kind) => follow(String(kind)) }) as ClusterInformers;
  }

  updated(kind: string, object: KubeObject, old: KubeObject): void {
    this.#handlers.get(kind)?.updated?.(object, old);
  }
}

function changes<T extends KubeObject>(kind: string, old: T, object: T): boolean {
  const heard = new Heard();
  const stamp = new ChangeStamp(heard.informers());
  const before = stamp.value;
  heard.updated(kind, object, old);
  return stamp.value !== before;
}

describe('a change that consolidation has to look at', () => {
  const pod = aRunningPod('web', 'node');
  const { node, claim } = aStateNode();

  it('is where a pod runs, whether it is ready, and what it says of itself', () => {
    const other = (parts: Partial<Pod>): boolean => changes<Pod>('pods', pod, { ...pod, ...parts });
    expect(other({ spec: { ...pod.spec, nodeName: 'other' } })).toBe(true);
    expect(other({ status: { ...pod.status, conditions: [{ type: 'Ready', status: 'False' }] } })).toBe(true);
    expect(other({ metadata: { ...pod.metadata, annotations: { 'karpenter.sh/do-not-disrupt': 'true' } } })).toBe(true);
  });

  it('is not what kubelets say again and again', () => {
    expect(changes('pods', pod, { ...pod, status: { ...pod.status, startTime: '2030-01-01T00:00:01Z' } })).toBe(false);
    const beat = { type: 'Ready', status: 'True' as const, lastHeartbeatTime: '2030-01-01T00:00:01Z' };
    expect(changes<Node>('nodes', node, { ...node, status: { ...node.status, conditions: [beat] } })).toBe(false);
  });

  it('is a taint, a label or a size of a node, and any change of a claim', () => {
    const taints = [{ key: 'team', effect: 'NoSchedule' as const }];
    expect(changes<Node>('nodes', node, { ...node, spec: { ...node.spec, taints } })).toBe(true);
    expect(changes<Node>('nodes', node, { ...node, status: { ...node.status, allocatable: { cpu: '1' } } })).toBe(true);
    expect(changes('nodeClaims', claim, { ...claim })).toBe(true);
  });
});
