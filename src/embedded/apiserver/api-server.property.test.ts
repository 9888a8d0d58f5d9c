import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CONFIG_MAPS, type ConfigMap } from '../../apis/kubernetes/core.ts';
import { type KubeObject, resource } from '../../apis/kubernetes/object.ts';
import { KubeError } from '../../kube/kube-error.ts';
import { seededRandom } from '../../platform/random.ts';
import { VirtualClock } from '../../platform/virtual-clock.ts';
import { sameJson } from '../frozen.ts';
import { ApiServer } from './api-server.ts';
import type { Watch } from './watching.ts';

function server(): ApiServer {
  return new ApiServer({ clock: new VirtualClock(), random: seededRandom('property') });
}

/** Runs an operation that may succeed or fail with an API error. Any other error is thrown. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof KubeError && (error.status.code ?? 500) < 600) return undefined;
    throw error;
  }
}

const CRDS = resource('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'customresourcedefinitions', 'cluster');
const TOYS = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'toys.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'toys', kind: 'Toy' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
} as KubeObject;

/** Field names that have a meaning, so that random objects get past the first check. */
const name = fc.constantFrom(
  ...['metadata', 'spec', 'status', 'labels', 'name', 'template', 'selector', 'matchLabels', 'containers', 'replicas'],
  ...['data', 'finalizers', 'ownerReferences', 'taints', 'conditions', 'tolerations', '__proto__', 'x'],
);
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.constantFrom(null, true, 0, -1, 1.5, '', 'a', 'a/b', '1Gi'),
    fc.dictionary(name, tie('value'), { maxKeys: 5 }),
    fc.array(tie('value'), { maxLength: 3 }),
  ),
})).value;
const fields = fc.dictionary(name, json, { maxKeys: 6 });

describe('the API server', () => {
  it('refuses nonsense of any kind as an API server does, and fails at none', () => {
    const api = server();
    api.create(CRDS, undefined, TOYS);
    const kinds = api.world.kinds.all().filter((kind) => kind.stored);
    fc.assert(
      fc.property(fc.constantFrom(...kinds), fields, json, fields, (kind, body, odd, patch) => {
        const namespace = kind.namespaced ? 'default' : undefined;
        const key = namespace === undefined ? { name: 'a' } : { name: 'a', namespace };
        const object = { ...body, apiVersion: kind.apiVersion, kind: kind.kind };
        attempt(() => api.create(kind, namespace, object as unknown as KubeObject, { fieldManager: 'one' }));
        attempt(() =>
          api.create(kind, namespace, { ...object, metadata: { name: 'a' } } as KubeObject, { fieldManager: 'one' }),
        );
        attempt(() => api.replace(kind, key, odd as unknown as KubeObject, { fieldManager: 'two' }));
        attempt(() => api.patch(kind, key, { type: 'merge', body: patch }, { fieldManager: 'two' }));
        attempt(() => api.patch(kind, key, { type: 'strategic', body: patch }, { fieldManager: 'two' }));
        attempt(() => api.patch(kind, key, { type: 'merge', body: patch }, { fieldManager: 'two' }, 'status'));
        const applied = { ...patch, apiVersion: kind.apiVersion, kind: kind.kind };
        attempt(() => api.patch(kind, key, { type: 'apply', body: applied, force: true }, { fieldManager: 'three' }));
        const operations = [{ op: 'add', path: '/spec/x', value: odd } as const];
        attempt(() => api.patch(kind, key, { type: 'json', operations }, { fieldManager: 'two' }));
        attempt(() => kind.cells(api.get(kind, key), 0));
        attempt(() => api.list(kind, { labelSelector: 'a=b' }));
        attempt(() => api.delete(kind, key, { gracePeriodSeconds: 0 }));
      }),
    );
  });

  it('tells watchers exactly what they need to keep up with a list, whatever they select', () => {
    const write = fc.record({
      name: fc.constantFrom('a', 'b', 'c'),
      group: fc.constantFrom('x', 'y'),
      verb: fc.constantFrom('create', 'label', 'change', 'delete'),
    });
    fc.assert(
      fc.property(fc.array(write, { maxLength: 30 }), fc.nat(30), (writes, from) => {
        const api = server();
        const seen = new Map<string, string>();
        let watch: Watch | undefined;
        for (const [index, { name: target, group, verb }] of writes.entries()) {
          if (index === from) {
            const { items, resourceVersion } = api.list(CONFIG_MAPS, SELECTION);
            for (const item of items) seen.set(item.metadata.name ?? '', item.metadata.resourceVersion ?? '');
            watch = api.watch(CONFIG_MAPS, { ...SELECTION, resourceVersion });
          }
          attempt(() => carryOut(api, verb, target, group));
        }
        if (watch === undefined) return;
        for (let event = watch.take(); event !== undefined; event = watch.take()) {
          if (event.type === 'BOOKMARK') continue;
          const { name: changed = '', resourceVersion = '' } = event.object.metadata;
          expect(seen.has(changed)).toBe(event.type !== 'ADDED');
          if (event.type === 'DELETED') seen.delete(changed);
          else seen.set(changed, resourceVersion);
        }
        const now = api
          .list(CONFIG_MAPS, SELECTION)
          .items.map((item): [string, string] => [item.metadata.name ?? '', item.metadata.resourceVersion ?? '']);
        expect([...seen].sort()).toEqual(now);
      }),
    );
  });

  it('gives with every patch what the same patch would give again', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.option(fc.constantFrom('1', '2'))), (data) => {
        const api = server();
        api.create(CONFIG_MAPS, 'default', configMap('m', { a: '1', b: '2' }));
        const patch = () => api.patch(CONFIG_MAPS, KEY, { type: 'merge', body: { data } }, { fieldManager: 'one' });
        expect(sameJson(patch(), patch())).toBe(true);
      }),
    );
  });
});

const SELECTION = { namespace: 'default', labelSelector: 'group=x' };
const KEY = { name: 'm', namespace: 'default' };

function configMap(name: string, data: Record<string, string>, group = 'x'): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default', labels: { group } }, data };
}

function carryOut(api: ApiServer, verb: string, target: string, group: string): void {
  const key = { name: target, namespace: 'default' };
  if (verb === 'create') api.create(CONFIG_MAPS, 'default', configMap(target, {}, group));
  else if (verb === 'delete') api.delete(CONFIG_MAPS, key);
  else {
    const body = verb === 'label' ? { metadata: { labels: { group } } } : { data: { group } };
    api.patch(CONFIG_MAPS, key, { type: 'merge', body });
  }
}
