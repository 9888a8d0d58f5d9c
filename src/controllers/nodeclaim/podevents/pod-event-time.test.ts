import { describe, expect, it } from 'vitest';
import { toTimestamp } from '../../../platform/clock.ts';
import { aCondition, aPod, later, T0 } from '../../testkit/objects.ts';
import { podEventTime, podGoneTime } from './pod-event-time.ts';

const NOW = later(60_000);
const pending = aPod({ spec: { nodeName: '' }, status: { phase: 'Pending' } });
const leaving = aPod({ metadata: { deletionTimestamp: toTimestamp(NOW) } });
const ended = aPod({ status: { phase: 'Succeeded' } });

describe('the time of a pod event', () => {
  it('is now when a pod comes to its node, ends, or is told to leave', () => {
    expect(podEventTime(aPod(), pending, NOW)).toBe(NOW);
    expect(podEventTime(ended, aPod(), NOW)).toBe(NOW);
    expect(podEventTime(leaving, aPod(), NOW)).toBe(NOW);
    expect(podGoneTime(aPod(), NOW)).toBe(NOW);
  });

  it('is nothing for any other change, nor twice for the same one', () => {
    expect(podEventTime(aPod(), aPod(), NOW)).toBeUndefined();
    expect(podEventTime(leaving, leaving, NOW)).toBeUndefined();
    expect(podEventTime(pending, pending, NOW)).toBeUndefined();
    expect(podGoneTime(leaving, NOW)).toBeUndefined();
    expect(podGoneTime(ended, NOW)).toBeUndefined();
  });

  it('is what the pod says of its coming where we come later than it', () => {
    const conditions = [aCondition('PodScheduled', 'True', T0)];
    expect(podEventTime(aPod({ status: { phase: 'Running', conditions } }), undefined, NOW)).toBe(T0);
    expect(podEventTime(aPod(), undefined, NOW)).toBeUndefined();
  });

  it('is nothing for pods that belong to their node', () => {
    const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid: 'd' }];
    expect(podEventTime(aPod({ metadata: { ownerReferences } }), pending, NOW)).toBeUndefined();
    expect(podGoneTime(aPod({ metadata: { ownerReferences } }), NOW)).toBeUndefined();
  });
});
