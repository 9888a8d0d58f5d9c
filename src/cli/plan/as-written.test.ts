import { describe, expect, it } from 'vitest';
import { asWritten } from './as-written.ts';
import { parseManifests } from './read-manifests.ts';

const SERVER = 'uid: 5e2b, resourceVersion: "7", generation: 2, creationTimestamp: "2026-01-01T00:00:00Z"';

function written(text: string): { objects: unknown[]; madeByOthers: number } {
  const { manifests, madeByOthers } = asWritten(parseManifests('-', text).manifests);
  return { objects: manifests.map(({ object }) => object), madeByOthers };
}

const owner = (kind: string, name: string): string =>
  `ownerReferences: [{apiVersion: apps/v1, kind: ${kind}, name: ${name}, uid: abc, controller: true}]`;

describe('an object that a cluster gave', () => {
  it('loses what the server added to it', () => {
    const { objects } = written(
      `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, labels: {a: b}, managedFields: [], ${SERVER}}, spec: {replicas: 3}, status: {replicas: 3}}`,
    );
    expect(objects).toEqual([
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'web', labels: { a: 'b' } },
        spec: { replicas: 3 },
      },
    ]);
  });

  it('is left out when another that is given makes it', () => {
    const { objects, madeByOthers } = written(`
{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop, ${SERVER}}, spec: {}}
---
{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web-1, namespace: shop, ${owner('Deployment', 'web')}, ${SERVER}}, spec: {}}
---
{apiVersion: v1, kind: Pod, metadata: {name: web-1-x, namespace: shop, ${owner('ReplicaSet', 'web-1')}, ${SERVER}}, spec: {}}
---
{apiVersion: v1, kind: Pod, metadata: {name: agent-x, namespace: shop, ${owner('DaemonSet', 'agent')}, ${SERVER}}, spec: {}}
`);
    expect(objects).toHaveLength(1);
    expect(madeByOthers).toBe(3);
  });

  it('stays when what makes it is not given', () => {
    const pod = `{apiVersion: v1, kind: Pod, metadata: {name: web-1-x, ${owner('ReplicaSet', 'web-1')}, ${SERVER}}, spec: {nodeName: n1, priority: 5}}`;
    expect(written(pod).objects).toMatchObject([{ spec: { priority: 5 } }]);
    expect(written(pod).objects).not.toMatchObject([{ spec: { nodeName: 'n1' } }]);
  });

  it('is left out when it has ended', () => {
    const { objects } = written(`
{apiVersion: v1, kind: Pod, metadata: {name: a, ${SERVER}}, spec: {}, status: {phase: Succeeded}}
---
{apiVersion: batch/v1, kind: Job, metadata: {name: b, ${SERVER}}, spec: {}, status: {conditions: [{type: Complete, status: "True"}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: c, deletionTimestamp: "2026-01-01T00:00:00Z", ${SERVER}}, spec: {}}
`);
    expect(objects).toEqual([]);
  });

  it('of kind Job loses the labels by which the old Job knew its pods', () => {
    const { objects } = written(
      `{apiVersion: batch/v1, kind: Job, metadata: {name: b, ${SERVER}}, spec: {selector: {matchLabels: {batch.kubernetes.io/controller-uid: x}}, template: {metadata: {labels: {app: b, controller-uid: x, job-name: b}}}}}`,
    );
    expect(objects).toMatchObject([{ spec: { template: { metadata: { labels: { app: 'b' } } } } }]);
    expect(JSON.stringify(objects)).not.toContain('controller-uid');
  });
});

describe('the PriorityClasses of a cluster', () => {
  const pods = (name: string, more = SERVER): string =>
    `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, ${more}}, spec: {template: {spec: {priorityClassName: ${name}}}}}`;
  const named = (text: string): readonly string[] => asWritten(parseManifests('-', text).manifests).priorityClasses;

  it('are told where they are named and not given', () => {
    expect(named(pods('high'))).toEqual(['high']);
    expect(named(pods('system-node-critical'))).toEqual([]);
    const given = '{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 5}';
    expect(named(`${pods('high')}\n---\n${given}`)).toEqual([]);
  });

  it('are asked for where a person names one that there is not', () => {
    expect(named(pods('high', 'namespace: default'))).toEqual([]);
  });
});

describe('an object that a person wrote', () => {
  it('is left as it is', () => {
    const text = '{apiVersion: v1, kind: Pod, metadata: {name: a, generation: 4}, spec: {nodeName: n1}}';
    expect(written(text).objects).toMatchObject([{ metadata: { generation: 4 }, spec: { nodeName: 'n1' } }]);
  });
});
