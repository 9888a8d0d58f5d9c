import { expect, it } from 'vitest';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { ANNOTATION_PLANNED_DAEMONS, writeDaemons } from '../../state/planned-daemons.ts';
import { aNode, aNodeClaim, aPod } from '../testkit/objects.ts';
import { planGap } from './plan-gap.ts';

const CLAIM = aNodeClaim({
  metadata: { annotations: { [ANNOTATION_PLANNED_DAEMONS]: writeDaemons({ cpu: 3200, memory: 1024 ** 3 }) } },
  status: { allocatable: { cpu: '8', memory: '16Gi' } },
});

function owned(kind: string, cpu: string): Pod {
  const ownerReferences = [{ apiVersion: 'v1', kind, name: kind, uid: kind }];
  return aPod({
    metadata: { ownerReferences },
    spec: { containers: [{ name: 'main', resources: { requests: { cpu } } }] },
  });
}

function gap(allocatable: Record<string, string>, pods: readonly Pod[], coming: Record<string, number>[] = []): string {
  return planGap({ claim: CLAIM, node: aNode({ status: { allocatable } }), pods, coming });
}

it('names what daemons take more than planned, also those still to come', () => {
  const pods = [owned('DaemonSet', '3200m'), owned('Node', '1')];
  expect(gap({ cpu: '8', memory: '16Gi' }, pods, [{ cpu: 1000 }])).toBe('planned 3.2 CPU for daemons, found 5.2');
});

it('names what the node has less than its type', () => {
  expect(gap({ cpu: '6', memory: '8Gi' }, [])).toBe(
    'planned with the 8 CPU of its instance type, found 6; planned with the 16Gi memory of its instance type, found 8Gi',
  );
});

it('names what others have taken', () => {
  expect(gap({ cpu: '8', memory: '16Gi' }, [owned('Agent', '2')])).toBe('other pods have taken 2 CPU');
});

it('says so where the node is as planned', () => {
  expect(gap({ cpu: '8', memory: '16Gi' }, [])).toContain('the node is as planned');
});
