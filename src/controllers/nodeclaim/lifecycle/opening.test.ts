import { describe, expect, it } from 'vitest';
import { isOpening } from '../../../state/state-node.ts';
import { aCondition, aNode, aNodeClaim, later } from '../../testkit/objects.ts';
import { closed, isClosedForLong, LONGEST_CLOSED_MS, opened } from './opening.ts';

const CLOSED = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' } as const;
const STARTUP = { key: 'example.com/starting', effect: 'NoSchedule' } as const;

describe('a new node', () => {
  it('is closed with whatever else is written on it, and marked as closed by us', () => {
    const patch = closed({ metadata: { labels: { a: 'b' }, annotations: { c: 'd' } }, spec: { taints: [STARTUP] } });
    expect(patch).toEqual({
      metadata: { labels: { a: 'b' }, annotations: { c: 'd', 'spindrift.dev/opening': 'true' } },
      spec: { taints: [STARTUP, CLOSED], unschedulable: true },
    });
  });

  it('is opened together with the taint of being closed, and with no other', () => {
    const taints = [CLOSED, STARTUP];
    const node = aNode({ metadata: { annotations: { 'spindrift.dev/opening': 'true' } }, spec: { taints } });
    expect(isOpening(node)).toBe(true);
    expect(opened(node, true, false)).toEqual({
      metadata: { labels: { 'karpenter.sh/initialized': 'true' }, annotations: { 'spindrift.dev/opening': null } },
      spec: { unschedulable: null, taints: [STARTUP] },
    });
    expect(opened(node, false, false).metadata).toEqual({ annotations: { 'spindrift.dev/opening': null } });
  });

  it('that is cordoned meanwhile stays closed, and is not ours to open any more', () => {
    expect(opened(aNode(), true, true)).toEqual({
      metadata: { labels: { 'karpenter.sh/initialized': 'true' }, annotations: { 'spindrift.dev/opening': null } },
    });
  });

  it('that a person closed is not ours to open', () => {
    expect(isOpening(aNode({ spec: { unschedulable: true } }))).toBe(false);
  });

  it('is not kept closed for longer than a minute after it was registered', () => {
    const claim = aNodeClaim({ status: { conditions: [aCondition('Registered')] } });
    expect(isClosedForLong(claim, later(LONGEST_CLOSED_MS - 1))).toBe(false);
    expect(isClosedForLong(claim, later(LONGEST_CLOSED_MS))).toBe(true);
    expect(isClosedForLong(aNodeClaim(), later(10 * LONGEST_CLOSED_MS))).toBe(false);
  });
});
