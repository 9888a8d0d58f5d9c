/**
 * Custom resources on the real API server and in the embedded one's own code, side by side: the recorded tables must still
 * be what a real server does, and definitions written by others must take and refuse the same objects in both.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { parse } from 'yaml';
import { type KubeObject, type Resource, resource } from '../../src/apis/kubernetes/object.ts';
import type { CustomResourceDefinition } from '../../src/embedded/apiserver/crd/custom-resource-definition.ts';
import { defaultDefinition, validateDefinition } from '../../src/embedded/apiserver/crd/definition-rules.ts';
import { servedKinds } from '../../src/embedded/apiserver/crd/served-kind.ts';
import type { FieldError } from '../../src/embedded/apiserver/schema/field-error.ts';
import type { ObjectSchema } from '../../src/embedded/apiserver/schema/object-schema.ts';
import type { JsonObject, Schema } from '../../src/embedded/apiserver/schema/schema.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import { connect } from '../../src/kube/connect.ts';
import { KubeError } from '../../src/kube/kube-error.ts';
import { RealClock } from '../../src/platform/real-clock.ts';

const DEFINITIONS = resource<CustomResourceDefinition>(
  'apiextensions.k8s.io/v1',
  'CustomResourceDefinition',
  'customresourcedefinitions',
  'cluster',
);
const EMBEDDED = new URL('../../src/embedded/apiserver/', import.meta.url);

interface Row {
  readonly name: string;
  readonly object: JsonObject;
  readonly old?: JsonObject;
}

type Cause = Pick<FieldError, 'field' | 'message'>;

const recorded = <T>(path: string): T => JSON.parse(readFileSync(new URL(path, EMBEDDED), 'utf8')) as T;
const gadgets = recorded<{ readonly schema: Schema; readonly rows: readonly Row[] }>('schema/testdata/gadgets.json');
const definitions = recorded<{
  readonly rows: readonly {
    readonly name: string;
    readonly definition: CustomResourceDefinition;
    readonly rejected?: true;
  }[];
}>('crd/testdata/definitions.json');

/** Karpenter's published definitions, from the Go module proxy; they are read, never kept. */
function karpenterDefinition(plural: string): CustomResourceDefinition {
  const answer = execFileSync('go', ['mod', 'download', '-json', 'sigs.k8s.io/karpenter@v1.14.0'], {
    encoding: 'utf8',
  });
  const { Dir } = JSON.parse(answer) as { readonly Dir: string };
  return parse(
    readFileSync(join(Dir, 'pkg/apis/crds', `karpenter.sh_${plural}.yaml`), 'utf8'),
  ) as CustomResourceDefinition;
}

const inOrder = (causes: readonly Cause[]): string[] =>
  [...new Set(causes.map(({ field, message }) => `${field}: ${message}`))].sort();

describe('custom resources', () => {
  let client: KubeClient;
  let close: () => Promise<void>;
  const made: string[] = [];

  beforeAll(async () => {
    const connected = await connect({ clock: new RealClock(), kubeconfig: inject('controlPlane').kubeconfig });
    client = connected.client;
    close = () => connected.connection.close();
  });

  afterAll(async () => {
    for (const name of made) await client.delete(DEFINITIONS, { name });
    await close();
  });

  /** What the real server has against a write; nothing when it takes it. */
  async function causesOf(write: Promise<unknown>): Promise<readonly Cause[]> {
    try {
      await write;
      return [];
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      return (error.status.details?.causes ?? [{ message: error.message }]).map(({ field = '', message = '' }) => ({
        field,
        message,
      }));
    }
  }

  async function install(definition: CustomResourceDefinition): Promise<{ kind: Resource; schema: ObjectSchema }> {
    await client.create(DEFINITIONS, definition);
    made.push(definition.metadata.name ?? '');
    const [served] = servedKinds(defaultDefinition(definition));
    if (served === undefined) throw new Error('no version is served');
    const { group, version, kind: name, plural, namespaced, schema } = served;
    const kind = resource(`${group}/${version}`, name, plural, namespaced ? 'namespaced' : 'cluster');
    await expect.poll(() => causesOf(client.list(kind)), { interval: 200, timeout: 30_000 }).toEqual([]);
    return { kind, schema };
  }

  async function compare(kind: Resource, schema: ObjectSchema, { object, old }: Row): Promise<void> {
    const prepare = (given: JsonObject): JsonObject => {
      const { status: _, ...rest } = schema.applyDefaults(schema.prune(given).object);
      return rest;
    };
    const typed = object as unknown as KubeObject;
    if (old === undefined) {
      const seen = await causesOf(client.create(kind, typed, { dryRun: true }));
      expect(inOrder(schema.validate(prepare(object)))).toEqual(inOrder(seen));
      return;
    }
    const before = await client.create(kind, old as unknown as KubeObject);
    const { resourceVersion = '' } = before.metadata;
    const seen = await causesOf(client.replace(kind, { ...typed, metadata: { ...typed.metadata, resourceVersion } }));
    await client.delete(kind, { name: before.metadata.name ?? '' });
    expect(inOrder(schema.validate(prepare(object), prepare(old)))).toEqual(inOrder(seen));
  }

  it('are defined or refused for the same reasons', async () => {
    for (const { name, definition, rejected } of definitions.rows) {
      const seen = await causesOf(client.create(DEFINITIONS, definition, { dryRun: true }));
      const ours = validateDefinition(defaultDefinition(definition));
      if (rejected === true) expect([name, seen.length > 0, ours.length > 0]).toEqual([name, true, true]);
      else expect([name, ...inOrder(ours)]).toEqual([name, ...inOrder(seen)]);
    }
  });

  it('of our own are taken or refused for the same reasons', async () => {
    const { kind, schema } = await install({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'gadgets.test.example.com' },
      spec: {
        group: 'test.example.com',
        scope: 'Cluster',
        names: { plural: 'gadgets', kind: 'Gadget' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            subresources: { status: {} },
            schema: { openAPIV3Schema: gadgets.schema },
          },
        ],
      },
    });
    for (const row of gadgets.rows) await compare(kind, schema, row);
  });

  it.each([
    ['nodepools', nodePools()],
    ['nodeclaims', nodeClaims()],
    ['nodeoverlays', nodeOverlays()],
  ] as const)('of Karpenter are taken or refused for the same reasons: %s', async (plural, rows) => {
    const { kind, schema } = await install(karpenterDefinition(plural));
    for (const row of rows) await compare(kind, schema, row);
  });
});

type Fields = Readonly<Record<string, unknown>>;

function row(name: string, object: Fields, old?: Fields): Row {
  return { name, object: object as JsonObject, ...(old === undefined ? {} : { old: old as JsonObject }) };
}

const nodeClassRef = { group: 'example.com', kind: 'NodeClass', name: 'default' };

function nodePools(): Row[] {
  const pool = (spec: Fields, template: Fields = {}, metadata?: Fields): Fields => ({
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name: 'pool' },
    spec: {
      template: { ...(metadata && { metadata }), spec: { nodeClassRef, requirements: [], ...template } },
      ...spec,
    },
  });
  const needing = (...requirements: Fields[]): Fields => pool({}, { requirements });
  const disrupting = (disruption: Fields): Fields => pool({ disruption: { consolidateAfter: '30s', ...disruption } });
  const budget = (fields: Fields): Fields => disrupting({ budgets: [fields] });
  return [
    row('the least', pool({})),
    row('weight too low', pool({ weight: 0 })),
    row('weight too high', pool({ weight: 101 })),
    row('no template', { ...pool({}), spec: {} }),
    row('static with weight', pool({ replicas: 3, weight: 5 })),
    row('static with a limit of CPUs', pool({ replicas: 3, limits: { cpu: '5' } })),
    row('static with a limit of nodes', pool({ replicas: 3, limits: { nodes: '5' } })),
    row('group with a slash', pool({}, { nodeClassRef: { ...nodeClassRef, group: 'a/b' } })),
    row('empty class', pool({}, { nodeClassRef: { group: '', kind: '', name: '' } })),
    row('In without values', needing({ key: 'a', operator: 'In' })),
    row('Gt with two values', needing({ key: 'a', operator: 'Gt', values: ['1', '2'] })),
    row('Gt with a negative value', needing({ key: 'a', operator: 'Gt', values: ['-1'] })),
    row('Gt with a word', needing({ key: 'a', operator: 'Gt', values: ['x'] })),
    row('an operator that is none', needing({ key: 'a', operator: 'Near' })),
    row('fewer values than minValues', needing({ key: 'a', operator: 'In', values: ['x'], minValues: 2 })),
    row('minValues too high', needing({ key: 'a', operator: 'Exists', minValues: 51 })),
    row('the label of the pool', needing({ key: 'karpenter.sh/nodepool', operator: 'In', values: ['x'] })),
    row('the label of the host', needing({ key: 'kubernetes.io/hostname', operator: 'In', values: ['x'] })),
    row('a label of Kubernetes', needing({ key: 'kubernetes.io/other', operator: 'In', values: ['x'] })),
    row('a restricted label', needing({ key: 'karpenter.sh/other', operator: 'In', values: ['x'] })),
    row('the capacity type', needing({ key: 'karpenter.sh/capacity-type', operator: 'In', values: ['spot'] })),
    row('a key that is too long', needing({ key: 'a'.repeat(320), operator: 'Exists' })),
    row('a value that is no label', needing({ key: 'a', operator: 'In', values: ['a b'] })),
    row(
      'taints',
      pool(
        {},
        {
          taints: [
            { key: 'a', effect: 'NoSchedule' },
            { key: '', effect: 'Never' },
          ],
        },
      ),
    ),
    row('expiry in days', pool({}, { expireAfter: '1d' })),
    row('no expiry', pool({}, { expireAfter: 'Never' })),
    row('grace in days', pool({}, { terminationGracePeriod: '1d' })),
    row('schedule without duration', budget({ nodes: '1', schedule: '@daily' })),
    row('schedule with duration', budget({ nodes: '1', schedule: '@daily', duration: '1h' })),
    row('a schedule that is none', budget({ nodes: '1', schedule: 'now and then', duration: '1h' })),
    row('negative nodes', budget({ nodes: '-1' })),
    row('nodes as a number', budget({ nodes: 5 })),
    row('a reason that is none', budget({ nodes: '1', reasons: ['Boredom'] })),
    row('a policy that is none', disrupting({ consolidationPolicy: 'Sometimes' })),
    row('too many budgets', disrupting({ budgets: Array.from({ length: 51 }, () => ({ nodes: '1' })) })),
    row('disruption without a time', pool({ disruption: {} })),
    row('the pool as a label of nodes', pool({}, {}, { labels: { 'karpenter.sh/nodepool': 'x' } })),
    row('the host as a label of nodes', pool({}, {}, { labels: { 'kubernetes.io/hostname': 'x' } })),
    row('limits', pool({ limits: { cpu: 10, memory: '1Gi', other: 'x y' } })),
    row('another class group', pool({}, { nodeClassRef: { ...nodeClassRef, group: 'other.com' } }), pool({})),
    row('another class', pool({}, { nodeClassRef: { ...nodeClassRef, name: 'other' } }), pool({})),
    row('static from now on', pool({ replicas: 1 }), pool({})),
    row('more replicas', pool({ replicas: 2 }), pool({ replicas: 1 })),
    row('no longer static', pool({}), pool({ replicas: 1 })),
  ];
}

function nodeClaims(): Row[] {
  const claim = (spec: Fields = {}): Fields => ({
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: { name: 'claim' },
    spec: { nodeClassRef, requirements: [], ...spec },
  });
  return [
    row('the least', claim()),
    row('nothing', { ...claim(), spec: {} }),
    row('requests', claim({ resources: { requests: { cpu: 1, other: '1Zi' } } })),
    row('Lt with a word', claim({ requirements: [{ key: 'a', operator: 'Lt', values: ['x'] }] })),
    row('changed', claim({ expireAfter: '5h' }), claim()),
    row('written again', claim(), claim()),
  ];
}

function nodeOverlays(): Row[] {
  const overlay = (spec: Fields = {}): Fields => ({
    apiVersion: 'karpenter.sh/v1alpha1',
    kind: 'NodeOverlay',
    metadata: { name: 'overlay' },
    spec: { requirements: [], ...spec },
  });
  return [
    row('the least', overlay()),
    row('price and adjustment', overlay({ price: '1.0', priceAdjustment: '+10%' })),
    row('negative price', overlay({ price: '-1' })),
    row('adjustment without a sign', overlay({ priceAdjustment: '10' })),
    row('a tenth less', overlay({ priceAdjustment: '-10%' })),
    row('less than nothing', overlay({ priceAdjustment: '-101%' })),
    row('capacity of CPUs', overlay({ capacity: { cpu: '1' } })),
    row('capacity of devices', overlay({ capacity: { 'example.com/gpu': '1' } })),
    row('weight too high', overlay({ weight: 10_001 })),
    row('NotIn without values', overlay({ requirements: [{ key: 'a', operator: 'NotIn' }] })),
  ];
}
