import { describe, expect, it } from 'vitest';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { toTimestamp } from '../../platform/clock.ts';
import { demandOf } from '../../state/planned-for.ts';
import { aCondition, aNode, aNodeClaim, aPod, later, T0 } from '../testkit/objects.ts';
import { hasFailedAtOnce, hasNeverJoined, hasRun, launchOutcome } from './launch-outcome.ts';

const WEB = aPod({ name: 'web' });
const DEMAND = demandOf(WEB);

describe('a launch', () => {
  const up = aNodeClaim({ status: { conditions: [aCondition('Initialized')] } as NodeClaim['status'] });
  const outcome = (claim: NodeClaim, node = aNode(), pods: readonly Pod[] = [], ms = 5000) =>
    launchOutcome({ name: 'node', node, claim }, DEMAND, pods, later(ms));

  it('is not judged before its node is up and the scheduler has looked at it', () => {
    expect(launchOutcome({ name: 'nodeclaim/claim', claim: aNodeClaim() }, DEMAND, [], T0)).toBe('coming');
    expect(outcome(aNodeClaim())).toBe('coming');
    expect(outcome(up, aNode(), [], 2999)).toBe('coming');
    const opening = aNode({ metadata: { annotations: { 'spindrift.dev/opening': 'true' } } });
    expect(outcome(up, opening)).toBe('coming');
  });

  it('has helped when a pod it was planned for is on its node', () => {
    expect(outcome(up, aNode(), [WEB])).toBe('helped');
    expect(outcome(up)).toBe('unused');
  });

  it('has helped when another pod is there that had waited, and not when one is that came with the node', () => {
    const made = (ms: number, kind = 'ReplicaSet') =>
      aPod({
        name: 'other',
        metadata: {
          creationTimestamp: toTimestamp(later(ms)),
          ownerReferences: [{ apiVersion: 'apps/v1', kind, name: 'owner', uid: 'owner' }],
        },
      });
    expect(outcome(up, aNode(), [made(-1000)])).toBe('helped');
    expect(outcome(up, aNode(), [made(-1000, 'DaemonSet')])).toBe('unused');
    expect(outcome(up, aNode(), [made(1000)])).toBe('unused');
  });
});

describe('a machine', () => {
  const gone = (conditions: readonly string[], annotations: Record<string, string> = {}): NodeClaim =>
    aNodeClaim({
      metadata: { deletionTimestamp: toTimestamp(T0), annotations },
      status: { conditions: conditions.map((type) => aCondition(type)) } as NodeClaim['status'],
    });

  const late = later(15 * 60_000);

  it('has never joined when its claim is given up after the launch and before the registration', () => {
    expect(hasNeverJoined(gone(['Launched']), late)).toBe(true);
    expect(hasNeverJoined(gone([]), late)).toBe(false);
    expect(hasNeverJoined(gone(['Launched', 'Registered']), late)).toBe(false);
    expect(hasNeverJoined(gone(['Launched'], { 'spindrift.dev/interruption': 'spot' }), late)).toBe(false);
  });

  it('may have joined yet when a person deletes its claim before its time is over', () => {
    expect(hasNeverJoined(gone(['Launched']), later(15 * 60_000 - 1))).toBe(false);
  });
});

describe('a pod', () => {
  const failed = aPod({ status: { phase: 'Failed' } });

  it('has failed at once when it did so within a minute, and nobody told it to go', () => {
    expect(hasFailedAtOnce(failed, later(59_999))).toBe(true);
    expect(hasFailedAtOnce(failed, later(60_000))).toBe(false);
    expect(hasFailedAtOnce(aPod(), T0)).toBe(false);
    const told = aPod({ metadata: { deletionTimestamp: toTimestamp(T0) }, status: { phase: 'Failed' } });
    expect(hasFailedAtOnce(told, T0)).toBe(false);
  });

  it('has run when it is ready or has done its work', () => {
    expect(hasRun(aPod())).toBe(false);
    expect(hasRun(aPod({ status: { conditions: [aCondition('Ready')] } }))).toBe(true);
    expect(hasRun(aPod({ status: { phase: 'Succeeded' } }))).toBe(true);
    expect(hasRun(failed)).toBe(false);
  });
});
