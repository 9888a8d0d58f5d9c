import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { type EpochMs, toTimestamp } from '../../platform/clock.ts';
import { aPod, later, T0 } from '../testkit/a-pod.ts';
import { decideDrain } from './decide-drain.ts';
import { decideEviction } from './decide-eviction.ts';
import { drainGroup, graceSeconds } from './drainable-pod.ts';

const daemon = [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid: 'd', controller: true }];
const critical = { priorityClassName: 'system-node-critical' };
const held = { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } };
const planned = { graceMs: 30_000, group: 0, budgets: [], comesBack: 'at-once', readyMs: 1000 } as const;
const step = (name: string, askAt: number) => {
  const pod = { ...planned, id: `uid-${name}`, name };
  return { pod, askAt, expectedAt: askAt, endBy: later(100_000), graceMs: 30_000 };
};
const names = (pods: readonly Pod[]): string[] => pods.map(({ metadata }) => metadata.name ?? '');
const leaving = (endsAt: number, grace = 30) => ({
  deletionTimestamp: toTimestamp(endsAt as EpochMs),
  deletionGracePeriodSeconds: grace,
});

describe('a drain', () => {
  it('takes the groups one after the other, and waits until the former has left', () => {
    const web = aPod({ name: 'web' });
    const agent = aPod({ name: 'agent', metadata: { ownerReferences: daemon } });
    const dns = aPod({ name: 'dns', spec: critical });
    const proxy = aPod({ name: 'proxy', metadata: { ownerReferences: daemon }, spec: critical });
    const all = [proxy, dns, agent, web];
    expect(names(decideDrain(all, T0, undefined).due)).toEqual(['web']);
    const going = aPod({ name: 'web', metadata: leaving(later(30_000)) });
    expect(names(decideDrain([proxy, dns, agent, going], T0, undefined).due)).toEqual([]);
    expect(names(decideDrain([proxy, dns, agent], T0, undefined).due)).toEqual(['agent']);
    expect(names(decideDrain([proxy, dns], T0, undefined).due)).toEqual(['dns']);
    expect(names(decideDrain([proxy], T0, undefined).due)).toEqual(['proxy']);
  });

  it('does not wait for pods that have ended, belong to the node, stay by their own wish, or are stuck', () => {
    const mirror = [{ apiVersion: 'v1', kind: 'Node', name: 'node', uid: 'n', controller: true }];
    const pods = [
      aPod({ name: 'ended', status: { phase: 'Succeeded' } }),
      aPod({ name: 'static', metadata: { ownerReferences: mirror } }),
      aPod({ name: 'mirror', metadata: { annotations: { 'kubernetes.io/config.mirror': 'hash' } } }),
      aPod({ name: 'stays', spec: { tolerations: [{ operator: 'Exists' }] } }),
      aPod({ name: 'stuck', metadata: leaving(T0 - 61_000) }),
    ];
    expect(decideDrain(pods, T0, undefined).awaited).toEqual([]);
    const late = aPod({ metadata: leaving(T0 - 60_000) });
    expect(decideDrain([late], T0, undefined)).toMatchObject({ awaited: [late], changesAt: T0 + 1 });
  });

  it('holds back pods that are not to be disrupted, until they may be', () => {
    const forEver = aPod({ name: 'ever', metadata: held });
    const forAWhile = aPod({ name: 'while', metadata: { annotations: { 'karpenter.sh/do-not-disrupt': '10m' } } });
    const nonsense = aPod({ name: 'nonsense', metadata: { annotations: { 'karpenter.sh/do-not-disrupt': 'soon' } } });
    const plan = decideDrain([forEver, forAWhile, nonsense], T0, undefined);
    expect(names(plan.held)).toEqual(['ever', 'while']);
    expect(names(plan.due)).toEqual(['nonsense']);
    expect(plan.changesAt).toBe(later(600_000));
    expect(names(decideDrain([forEver, forAWhile], later(600_000), undefined).due)).toEqual(['while']);
  });

  it('has pods of every group leave that would else not have their grace period before the deadline', () => {
    const deadline = later(100_000);
    const slow = aPod({ name: 'slow', spec: { ...critical, terminationGracePeriodSeconds: 60 } });
    const web = aPod({ name: 'web', metadata: held });
    expect(decideDrain([slow, web], T0, deadline)).toMatchObject({ due: [], changesAt: later(40_000) });
    expect(names(decideDrain([slow, web], later(40_000), deadline).due)).toEqual(['slow']);
    expect(decideEviction(slow, later(40_000), deadline)).toEqual({ kind: 'delete', graceSeconds: 60 });
    expect(decideEviction(web, later(69_000), deadline)).toMatchObject({ kind: 'held' });
    expect(decideEviction(web, later(70_000), deadline)).toEqual({ kind: 'delete', graceSeconds: 30 });
    expect(decideEviction(web, later(200_000), deadline)).toEqual({ kind: 'delete', graceSeconds: 1 });
  });

  it('shortens the grace of a pod that leaves too late, once', () => {
    const pod = aPod({ metadata: leaving(later(500_000), 500) });
    expect(decideEviction(pod, T0, undefined)).toEqual({ kind: 'none' });
    expect(decideEviction(pod, T0, later(100_000))).toEqual({ kind: 'delete', graceSeconds: 100 });
    expect(decideEviction(pod, T0, later(500_000))).toEqual({ kind: 'none' });
    expect(decideEviction(aPod({ metadata: leaving(later(1000), 1) }), T0, T0)).toEqual({ kind: 'none' });
  });

  it('of a machine that is taken away asks each pod when the plan says so, and forces nobody', () => {
    const now = aPod({ name: 'now' });
    const soon = aPod({ name: 'soon', metadata: held });
    const plan = { latestStart: T0, steps: [step('now', T0), step('soon', later(70_000))], late: [] };
    const taken = { plan, shortenedEnd: () => undefined };
    const drain = decideDrain([now, soon], T0, undefined, taken);
    expect(names(drain.due)).toEqual(['now']);
    expect(names(drain.held)).toEqual(['soon']);
    expect(drain.endBy.get(now)).toBe(later(100_000));
    expect(drain.changesAt).toBe(later(70_000));
    expect(names(decideDrain([now, soon], later(70_000), undefined, taken).due)).toEqual(['now', 'soon']);
  });

  it('of a machine that is taken away asks pods that are due together in the order of the plan', () => {
    const [a, b, c] = [aPod({ name: 'a' }), aPod({ name: 'b' }), aPod({ name: 'c' })];
    const going = aPod({ name: 'going', metadata: leaving(later(500_000), 500) });
    const plan = { latestStart: T0, steps: [step('c', T0), step('a', T0), step('b', T0)], late: [] };
    const taken = { plan, shortenedEnd: () => later(100_000) };
    expect(names(decideDrain([a, b, c, going], T0, undefined, taken).due)).toEqual(['going', 'c', 'a', 'b']);
  });

  it('gives a pod what is left where the machine will not be there for longer', () => {
    expect(decideEviction(aPod(), T0, undefined, later(100_000))).toEqual({ kind: 'evict' });
    expect(decideEviction(aPod(), T0, undefined, later(20_500))).toEqual({ kind: 'evict', graceSeconds: 20 });
    expect(decideEviction(aPod({ metadata: held }), T0, undefined, later(-5000))).toEqual({
      kind: 'evict',
      graceSeconds: 1,
    });
    const going = aPod({ metadata: leaving(later(500_000), 500) });
    expect(decideEviction(going, T0, undefined, later(60_000))).toEqual({ kind: 'evict', graceSeconds: 60 });
    const short = aPod({ metadata: leaving(later(20_000), 30) });
    expect(decideEviction(short, T0, undefined, later(60_000))).toEqual({ kind: 'none' });
    // The node's own deadline still applies.
    expect(decideEviction(aPod(), T0, later(10_000), later(60_000))).toEqual({ kind: 'delete', graceSeconds: 10 });
  });

  const arbitraryPod = fc
    .record({
      name: fc.uuid(),
      daemon: fc.boolean(),
      critical: fc.boolean(),
      held: fc.constantFrom(undefined, 'true', '30s', '1h'),
      grace: fc.integer({ min: 0, max: 300 }),
      endsAt: fc.option(fc.integer({ min: -200_000, max: 200_000 }), { nil: undefined }),
    })
    .map((parts) =>
      aPod({
        name: parts.name,
        metadata: {
          ...(parts.daemon && { ownerReferences: daemon }),
          ...(parts.held !== undefined && { annotations: { 'karpenter.sh/do-not-disrupt': parts.held } }),
          ...(parts.endsAt !== undefined && leaving(T0 + parts.endsAt, parts.grace)),
        },
        spec: { terminationGracePeriodSeconds: parts.grace, ...(parts.critical && critical) },
      }),
    );

  it('asks only the first group, disturbs nobody who is held while there is time, and leaves nobody when it is over', () => {
    const deadline = fc.option(fc.integer({ min: -100_000, max: 400_000 }), { nil: undefined });
    fc.assert(
      fc.property(fc.array(arbitraryPod), deadline, (pods, deadlineMs) => {
        const limit = deadlineMs === undefined ? undefined : later(deadlineMs);
        const plan = decideDrain(pods, T0, limit);
        const first = Math.min(...plan.awaited.map(drainGroup));
        for (const pod of plan.due) {
          const overdue = limit !== undefined && T0 >= limit - graceSeconds(pod) * 1000;
          const tooLate = limit !== undefined && pod.metadata.deletionTimestamp !== undefined;
          expect(drainGroup(pod) === first || overdue || tooLate).toBe(true);
          expect(plan.held).not.toContain(pod);
        }
        expect(plan.changesAt).toBeGreaterThan(T0);
        if (limit === undefined || limit > T0) return;
        for (const pod of plan.awaited)
          expect(plan.due.includes(pod) || pod.metadata.deletionTimestamp !== undefined).toBe(true);
      }),
    );
  });
});
