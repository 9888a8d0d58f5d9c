import { describe, expect, it } from 'vitest';
import type { DrainPod } from './drain-question.ts';
import { planDrain, shortenedEnd } from './plan-drain.ts';
import { lateSentence } from './sentence.ts';

/** 2030-01-01T00:00:00Z. */
const NOW = 1_893_456_000_000;
const in_ = (seconds: number): number => NOW + seconds * 1000;
const pod = (id: string, parts: Partial<DrainPod> = {}): DrainPod => ({
  ...{ id, name: `default/${id}`, graceMs: 30_000, group: 0, budgets: [], comesBack: 'at-once', readyMs: 10_000 },
  ...parts,
});
const plan = (pods: readonly DrainPod[], noticeSeconds: number, allowed = 1, elsewhere = 0) =>
  planDrain({
    pods,
    budgets: [{ name: 'default/web', allowed, away: 0, elsewhere }],
    now: NOW,
    deadline: in_(noticeSeconds),
    marginMs: 3000,
  });
const times = (pods: readonly DrainPod[], noticeSeconds: number, allowed = 1, elsewhere = 0) =>
  plan(pods, noticeSeconds, allowed, elsewhere).steps.map(({ pod: { id }, askAt, expectedAt, graceMs }) => [
    id,
    (askAt - NOW) / 1000,
    (expectedAt - NOW) / 1000,
    graceMs / 1000,
  ]);
const sentences = (pods: readonly DrainPod[], noticeSeconds: number, allowed = 1) =>
  plan(pods, noticeSeconds, allowed).late.map(({ reason }) => lateSentence(reason));

const budgets = ['default/web'];

describe('a planned drain', () => {
  it('may wait for the replacement as long as everybody still has their grace period', () => {
    expect(plan([pod('a'), pod('b', { graceMs: 60_000 })], 120).latestStart).toBe(in_(57));
    expect(plan([], 120).latestStart).toBe(Number.POSITIVE_INFINITY);
  });

  it('gives everybody what is left when the notice is shorter than their grace period', () => {
    expect(times([pod('a'), pod('b', { graceMs: 5000 })], 30)).toEqual([
      ['a', 0, 0, 27],
      ['b', 0, 0, 5],
    ]);
  });

  it('asks the groups one after the other, and a later one in time for its grace period', () => {
    const pods = [
      pod('web', { graceMs: 100_000 }),
      pod('dns', { group: 2, graceMs: 20_000 }),
      pod('log', { group: 1 }),
    ];
    expect(times(pods, 120)).toEqual([
      ['web', 0, 0, 100],
      ['log', 87, 87, 30],
      ['dns', 97, 97, 20],
    ]);
  });

  it('counts the turns that a budget makes its pods take, those of other nodes among them', () => {
    const pods = [pod('a', { budgets }), pod('b', { budgets }), pod('c', { budgets })];
    expect(times(pods, 120).map(([, , expected]) => expected)).toEqual([0, 10, 20]);
    expect(times(pods, 120, 2).map(([, , expected]) => expected)).toEqual([0, 0, 10]);
    expect(times(pods, 120, 1, 3).map(([, , expected]) => expected)).toEqual([0, 20, 40]);
    expect(plan(pods, 120).latestStart).toBe(in_(120 - 3 - 20 - 30));
  });

  it('counts the turns of the largest services too', () => {
    const pods = [pod('a', { budgets }), pod('b', { budgets })];
    const expected = (allowed: number, elsewhere: number) => times(pods, 120, allowed, elsewhere).map(([, , at]) => at);
    expect(expected(2000, 1000)).toEqual([0, 0]);
    expect(expected(2000, 3000)).toEqual([0, 0]);
    expect(expected(2000, 6000)).toEqual([0, 10]);
  });

  it('shortens the grace periods of pods that others wait for alike, so that all have their turn', () => {
    const pods = ['a', 'b', 'c'].map((id) => pod(id, { budgets, comesBack: 'after-its-end' }));
    expect(times(pods, 83)).toEqual([
      ['a', 0, 0, 20],
      ['b', 0, 30, 20],
      ['c', 0, 60, 20],
    ]);
  });

  it('asks a pod that is not to be disturbed at the last moment that leaves it its grace period', () => {
    expect(times([pod('a', { heldUntil: Number.POSITIVE_INFINITY }), pod('b', { heldUntil: in_(40) })], 120)).toEqual([
      ['b', 40, 40, 30],
      ['a', 87, 87, 30],
    ]);
  });

  it('says who cannot leave in time, and why', () => {
    expect(sentences([pod('a', { budgets })], 120, 0)).toEqual([
      'PodDisruptionBudget default/web never allows an eviction',
    ]);
    expect(sentences([pod('a', { budgets: ['default/web', 'default/all'] })], 120)).toEqual([
      'several PodDisruptionBudgets select it (default/web, default/all), and Kubernetes evicts no such pod',
    ]);
    expect(
      sentences([pod('a', { budgets }), pod('b', { budgets, readyMs: 40_000 }), pod('c', { budgets })], 30),
    ).toEqual([
      'PodDisruptionBudget default/web allows 1 eviction at a time, and it could be evicted at 2030-01-01T00:00:50Z',
    ]);
    expect(sentences([pod('a', { budgets, comesBack: 'never' }), pod('b', { budgets })], 120)).toEqual([
      'PodDisruptionBudget default/web allows 1 eviction at a time, and the pods evicted before it have no replacement',
    ]);
    expect(sentences([pod('a')], 0)).toEqual(['the machine ends now']);
  });

  it('after the deadline asks everybody at once, and takes nothing from their grace periods', () => {
    expect(times([pod('a'), pod('b', { group: 3, heldUntil: Number.POSITIVE_INFINITY })], -5)).toEqual([
      ['a', 0, 0, 30],
      ['b', 0, 0, 30],
    ]);
  });

  it('shortens the grace period of a pod that is leaving already where it would outlive the machine', () => {
    const question = { now: NOW, deadline: in_(30), marginMs: 3000 };
    expect(shortenedEnd(question, in_(60))).toBe(in_(27));
    expect(shortenedEnd(question, in_(30))).toBeUndefined();
    expect(shortenedEnd({ ...question, deadline: NOW }, in_(60))).toBeUndefined();
  });
});
