import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ObjectSchema } from '../object-schema.ts';
import type { JsonObject } from '../schema.ts';
import { builtInSchema } from './built-in-schema.ts';

interface Row {
  readonly name: string;
  readonly object: JsonObject;
  /** The API server's strict-mode error, without its prefix; absent if the object was accepted. */
  readonly message?: string;
}

/** Recorded on a real kube-apiserver. */
const recorded = JSON.parse(readFileSync(new URL('testdata/deployments.json', import.meta.url), 'utf8')) as {
  readonly rows: readonly Row[];
};

const schemaOf = (apiVersion: string, kind: string): ObjectSchema => {
  const schema = builtInSchema(apiVersion, kind);
  if (schema === undefined) throw new Error(`${kind} has no schema`);
  return new ObjectSchema(schema, 'built-in');
};

describe('an object of a built-in kind', () => {
  const deployments = schemaOf('apps/v1', 'Deployment');
  const pods = schemaOf('v1', 'Pod');

  it.each(recorded.rows.map((row) => [row.name, row] as const))('is read as kube-apiserver reads it: %s', (_, row) => {
    const { unknown, problem } = deployments.prune(row.object);
    const strict = unknown.map((field) => `unknown field "${field}"`).join(', ');
    expect(problem ?? (strict === '' ? undefined : `strict decoding error: ${strict}`)).toBe(row.message);
  });

  it('has quantities in canonical form, whole numbers as text', () => {
    const limits = { cpu: 2, memory: '1024Mi', 'example.com/gpu': '1000m' };
    const { object } = pods.prune({ spec: { containers: [{ resources: { limits } }] } });
    expect(object).toEqual({
      spec: { containers: [{ resources: { limits: { cpu: '2', memory: '1Gi', 'example.com/gpu': '1' } } }] },
    });
  });

  it('has no nulls', () => {
    const { object } = pods.prune({
      metadata: { creationTimestamp: null, labels: { a: null } },
      spec: { nodeName: null, containers: [null], tolerations: null },
    });
    expect(object).toEqual({ metadata: { labels: { a: '' } }, spec: { containers: [{}] } });
  });

  it('is given back as it is when there is nothing to change', () => {
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec: { containers: [{ name: 'c' }] } };
    expect(pods.prune(pod).object).toBe(pod);
  });

  it('may have labels of any name', () => {
    const pod = JSON.parse(
      '{"metadata":{"labels":{"__proto__":"a","constructor":"b"}},"__proto__":{"x":1}}',
    ) as JsonObject;
    const { object, unknown } = pods.prune(pod);
    expect(unknown).toEqual(['__proto__']);
    expect(JSON.stringify(object)).toBe('{"metadata":{"labels":{"__proto__":"a","constructor":"b"}}}');
  });

  it('takes times of its own precision', () => {
    const leases = schemaOf('coordination.k8s.io/v1', 'Lease');
    expect(leases.prune({ spec: { renewTime: '2024-01-01T00:00:00.000000Z' } }).problem).toBeUndefined();
    expect(leases.prune({ spec: { renewTime: 'now' } }).problem).toContain('parsing time "now"');
  });

  it('holds bytes in base64', () => {
    const secrets = schemaOf('v1', 'Secret');
    expect(secrets.prune({ data: { a: 'aGk=' } }).problem).toBeUndefined();
    expect(secrets.prune({ data: { a: 'a*b' } }).problem).toBe('illegal base64 data at input byte 1');
  });
});
