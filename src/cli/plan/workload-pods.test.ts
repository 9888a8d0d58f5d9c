import { describe, expect, it } from 'vitest';
import type { CronJob, Deployment, Job, StatefulSet } from '../../apis/kubernetes/workloads.ts';
import { claimsOf, oneRun, podCount, podOf, podsLike } from './workload-pods.ts';

const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main' }] } };
const metadata = { name: 'web', namespace: 'shop', uid: 'u' };
const selector = { matchLabels: { app: 'web' } };

const deployment = (replicas?: number): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata,
  spec: { selector, template, ...(replicas === undefined ? {} : { replicas }) },
});

const job = (spec: Partial<Job['spec']>): Job => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata,
  spec: { template, ...spec },
});

describe('the pods of a workload', () => {
  it('are as many as its replicas, one when it does not say', () => {
    expect(podCount(deployment())).toBe(1);
    expect(podCount(deployment(0))).toBe(0);
    expect(podsLike(podOf(deployment(3)), deployment(3)).map(({ metadata }) => metadata.name)).toEqual([
      'web-1',
      'web-2',
      'web-3',
    ]);
  });

  it('have the labels of its template, its namespace, and it for their owner', () => {
    const pod = podOf(deployment());
    expect(pod.metadata).toMatchObject({ namespace: 'shop', labels: { app: 'web' } });
    expect(pod.metadata.ownerReferences).toMatchObject([{ kind: 'Deployment', name: 'web' }]);
  });

  it('of a Job are as many as may run at a time and are still wanted', () => {
    expect(podCount(job({}))).toBe(1);
    expect(podCount(job({ parallelism: 5 }))).toBe(5);
    expect(podCount(job({ parallelism: 5, completions: 2 }))).toBe(2);
    expect(podCount(job({ parallelism: 5, suspend: true }))).toBe(0);
  });

  it('of a CronJob are those of one run, and none while it is suspended', () => {
    const cron = (suspend: boolean): CronJob => ({
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata,
      spec: { schedule: '@daily', suspend, jobTemplate: { spec: { parallelism: 3, template } } },
    });
    expect(podCount(oneRun(cron(false))!)).toBe(3);
    expect(oneRun(cron(true))).toBeUndefined();
  });

  it('of a StatefulSet have claims of their own', () => {
    const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'data' }, spec: {} };
    const set: StatefulSet = {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata,
      spec: { selector, template, replicas: 2, volumeClaimTemplates: [claim] },
    };
    expect(claimsOf(set).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)).toEqual([
      'shop/data-web-0',
      'shop/data-web-1',
    ]);
    const pods = podsLike(podOf(set), set);
    expect(pods.map(({ spec }) => spec.volumes?.[0]?.persistentVolumeClaim?.claimName)).toEqual([
      'data-web-0',
      'data-web-1',
    ]);
  });
});
