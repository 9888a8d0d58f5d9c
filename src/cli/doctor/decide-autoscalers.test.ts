import { describe, expect, it } from 'vitest';
import type { Node, Taint } from '../../apis/kubernetes/node.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { decideAutoscalers } from './decide-autoscalers.ts';

function aPod(name: string, image: string, nodeName = 'node-1', labels: Record<string, string> = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'kube-system', labels },
    spec: { nodeName, containers: [{ name: 'main', image }] },
    status: { phase: 'Running' },
  };
}

function aNode(name: string, pool?: string, taints: Taint[] = []): Node {
  const labels = pool === undefined ? {} : { 'karpenter.sh/nodepool': pool };
  return { apiVersion: 'v1', kind: 'Node', metadata: { name, labels }, spec: { taints } };
}

const LEASE = { namespace: 'kube-system', name: 'karpenter-leader-election' };
const CLUSTER_AUTOSCALER = aPod('ca-1', 'registry.k8s.io/autoscaling/cluster-autoscaler:v1.34.0');
const KARPENTER = aPod('karpenter-1', 'public.ecr.aws/karpenter/controller:1.14.0');

describe('decideAutoscalers', () => {
  const decide = (pods: Pod[], nodes: Node[] = [], lease = LEASE) =>
    decideAutoscalers({ pods, nodes, clouds: ['aws'], lease });

  it('is content when Spindrift is alone, on a node that it does not manage', () => {
    const own = aPod('spindrift-1', 'spindrift:1', 'node-1', { 'app.kubernetes.io/name': 'spindrift' });
    expect(decide([own], [aNode('node-1'), aNode('general-1', 'general')])).toEqual([
      { check: 'autoscalers', status: 'ok', text: 'no other autoscaler runs in this cluster' },
    ]);
  });

  it('fails when Spindrift runs on a node that it manages', () => {
    const own = aPod('spindrift-1', 'spindrift:1', 'general-1', { 'app.kubernetes.io/name': 'spindrift' });
    expect(decide([own], [aNode('general-1', 'general')])).toMatchObject([
      { status: 'failed', text: 'kube-system/spindrift-1 runs on general-1, a node that it manages itself' },
    ]);
  });

  it('warns of a Cluster Autoscaler, and fails when it takes nodes of NodePools away', () => {
    const taint = { key: 'ToBeDeletedByClusterAutoscaler', effect: 'NoSchedule' } as const;
    expect(decide([CLUSTER_AUTOSCALER], [aNode('other', undefined, [taint])])).toMatchObject([{ status: 'warning' }]);
    expect(decide([CLUSTER_AUTOSCALER], [aNode('general-1', 'general', [taint])])).toMatchObject([
      { status: 'failed', text: 'Cluster Autoscaler is about to remove nodes of NodePools: general-1' },
    ]);
    const labelled = aPod('ca-2', 'mirror/ca:1', 'node-1', { 'app.kubernetes.io/name': 'aws-cluster-autoscaler' });
    expect(decide([labelled])).toMatchObject([{ status: 'warning' }]);
  });

  it('fails when Karpenter serves the same cloud, unless both wait for one Lease', () => {
    expect(decide([KARPENTER])).toMatchObject([{ status: 'warning', text: expect.stringContaining('same Lease') }]);
    expect(decide([KARPENTER], [], { ...LEASE, namespace: 'elsewhere' })).toMatchObject([
      { status: 'failed', text: 'Karpenter runs as kube-system/karpenter-1 and acts on the same NodePools' },
    ]);
  });

  it('is content with a Karpenter for another cloud, and with one that has ended', () => {
    const azure = aPod('karpenter-1', 'mcr.microsoft.com/aks/karpenter-provider-azure:1', 'node-1');
    expect(decide([azure])).toMatchObject([{ status: 'ok', text: expect.stringContaining('for azure') }]);
    expect(decide([{ ...KARPENTER, status: { phase: 'Failed' } }])).toMatchObject([{ status: 'ok' }]);
  });
});
