import { describe, expect, it } from 'vitest';
import { aCondition, aNode, aNodeClaim } from '../../testkit/objects.ts';
import { decideInitialization } from './decide-initialization.ts';

const claim = aNodeClaim({
  spec: {
    startupTaints: [{ key: 'cni', effect: 'NoSchedule' }],
    resources: { requests: { cpu: '1', 'example.com/gpu': '1', 'example.com/none': '0' } },
  },
});
const allocatable = { cpu: '4', 'example.com/gpu': '2' };

describe('initialisation', () => {
  it('waits until the node is ready', () => {
    const node = aNode({ status: { conditions: [aCondition('Ready', 'False')], allocatable } });
    expect(decideInitialization(claim, node)).toMatchObject({ status: 'Unknown', reason: 'NodeNotReady' });
    expect(decideInitialization(claim, aNode({ status: { conditions: [] } }))).toMatchObject({
      reason: 'NodeNotReady',
    });
  });

  it('waits until the start-up taints are gone, whatever their value, and those of Kubernetes and Cluster API', () => {
    const tainted = (key: string) =>
      aNode({ spec: { taints: [{ key, value: 'x', effect: 'NoSchedule' }] }, status: { allocatable } });
    expect(decideInitialization(claim, tainted('cni'))).toMatchObject({ reason: 'StartupTaintsExist' });
    for (const key of ['node.kubernetes.io/not-ready', 'node.cluster.x-k8s.io/uninitialized'])
      expect(decideInitialization(claim, tainted(key))).toMatchObject({ reason: 'KnownEphemeralTaintsExist' });
    expect(decideInitialization(claim, tainted('team'))).toMatchObject({ status: 'True' });
  });

  it('waits until every resource that was asked for is there', () => {
    expect(decideInitialization(claim, aNode())).toMatchObject({
      reason: 'ResourceNotRegistered',
      message: 'Resource example.com/gpu was requested but not registered',
    });
    expect(decideInitialization(claim, aNode({ status: { allocatable } }))).toMatchObject({ status: 'True' });
  });
});
