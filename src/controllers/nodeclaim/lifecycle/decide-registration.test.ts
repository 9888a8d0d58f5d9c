import { describe, expect, it } from 'vitest';
import { TAINT_UNREGISTERED } from '../../../apis/karpenter/labels.ts';
import { aNode, aNodeClaim } from '../../testkit/objects.ts';
import { decideRegistration } from './decide-registration.ts';

const TAINT = { key: 'team', value: 'a', effect: 'NoSchedule' } as const;
const STARTUP = { key: 'cni', effect: 'NoExecute' } as const;
const claim = aNodeClaim({
  metadata: { labels: { team: 'a' }, annotations: { note: 'x', 'spindrift.dev/offerings': 'small/a/spot/1' } },
  spec: { taints: [TAINT], startupTaints: [STARTUP] },
});

describe('registration', () => {
  it('waits for a node, and for one alone', () => {
    expect(decideRegistration(claim, []).condition).toMatchObject({ status: 'Unknown', reason: 'NodeNotFound' });
    const two = decideRegistration(claim, [aNode({ name: 'a' }), aNode({ name: 'b' })]);
    expect(two.condition).toMatchObject({ status: 'False', reason: 'MultipleNodesFound' });
    expect(two.nodePatch).toBeUndefined();
    const going = aNode({ metadata: { deletionTimestamp: '2030-01-01T00:00:00Z' } });
    expect(decideRegistration(claim, [going]).condition).toMatchObject({ reason: 'NodeNotFound' });
  });

  it('gives the node the labels, annotations and taints of its claim, an owner and a finalizer', () => {
    const node = aNode({ metadata: { finalizers: ['other'] }, spec: { taints: [TAINT, TAINT_UNREGISTERED] } });
    const plan = decideRegistration(claim, [node]);
    expect(plan).toMatchObject({ condition: { status: 'True' }, taintMissing: false });
    expect(plan.nodePatch).toEqual({
      metadata: {
        labels: { team: 'a', 'karpenter.sh/registered': 'true' },
        annotations: { note: 'x' },
        finalizers: ['other', 'karpenter.sh/termination'],
        ownerReferences: [
          {
            apiVersion: 'karpenter.sh/v1',
            kind: 'NodeClaim',
            name: 'claim',
            uid: 'uid-claim',
            blockOwnerDeletion: true,
          },
        ],
      },
      spec: { taints: [TAINT, STARTUP] },
    });
  });

  it('leaves the taints of a node alone that says so', () => {
    const labels = { 'karpenter.sh/do-not-sync-taints': 'true' };
    const plan = decideRegistration(claim, [aNode({ metadata: { labels }, spec: { taints: [TAINT_UNREGISTERED] } })]);
    expect(plan.nodePatch?.spec).toEqual({ taints: [] });
  });

  it('notices a node that nothing kept pods off', () => {
    expect(decideRegistration(claim, [aNode()]).taintMissing).toBe(true);
  });

  it('changes nothing on a node that is registered', () => {
    const labels = { 'karpenter.sh/registered': 'true' };
    const node = aNode({ metadata: { labels, finalizers: ['karpenter.sh/termination'] } });
    const plan = decideRegistration(claim, [node]);
    expect(plan).toEqual({ condition: { type: 'Registered', status: 'True' }, node });
  });
});
