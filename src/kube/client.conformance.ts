/**
 * What every {@link KubeClient} does, as tests. Run on each implementation and against a real API server, where two of
 * the cases also need the garbage collector of the controller manager.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONFIG_MAPS, type ConfigMap, NAMESPACES } from '../apis/kubernetes/core.ts';
import { NODES } from '../apis/kubernetes/node.ts';
import { type KubeObject, keyOf, resource } from '../apis/kubernetes/object.ts';
import { PODS, type Pod } from '../apis/kubernetes/pod.ts';
import { POD_DISRUPTION_BUDGETS } from '../apis/kubernetes/pod-disruption-budget.ts';
import { scaleOf } from '../apis/kubernetes/scale.ts';
import { DEPLOYMENTS, type Deployment } from '../apis/kubernetes/workloads.ts';
import { type ErrorCode, SpindriftError } from '../platform/errors.ts';
import type { KubeClient, WatchEvent, WatchQuery } from './client.ts';
import { KubeError } from './kube-error.ts';

export interface ClientUnderTest {
  readonly client: KubeClient;
  /** Waits for a promise that needs time to pass; where time is virtual, it makes it pass. */
  settle?<T>(promise: Promise<T>): Promise<T>;
  close?(): Promise<void>;
}

interface Widget extends KubeObject {
  readonly spec?: { readonly size?: number; readonly colour?: string };
}

const WIDGETS = resource<Widget>('conformance.spindrift.dev/v1', 'Widget', 'widgets', 'namespaced');
const CRDS = resource<
  KubeObject & { readonly status?: { readonly conditions?: readonly { type: string; status: string }[] } }
>('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'customresourcedefinitions', 'cluster');

const WIDGET_CRD = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.conformance.spindrift.dev' },
  spec: {
    group: 'conformance.spindrift.dev',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  size: { type: 'integer', minimum: 1 },
                  colour: { type: 'string', default: 'blue' },
                },
                'x-kubernetes-validations': [
                  { rule: "self.colour != 'red' || self.size < 10", message: 'a red widget is smaller than 10' },
                ],
              },
            },
          },
        },
      },
    ],
  },
};

/** Declares the suite for one implementation. */
export function describeKubeClient(name: string, open: () => Promise<ClientUnderTest>): void {
  describe(`KubeClient: ${name}`, () => {
    let under: ClientUnderTest;
    let client: KubeClient;
    let namespace: string;
    let serial = 0;

    const fresh = (prefix: string): string => `${prefix}-${++serial}`;
    const settle = <T>(promise: Promise<T>): Promise<T> => under.settle?.(promise) ?? promise;

    const configMap = (metadata: ConfigMap['metadata'], data?: Record<string, string>): ConfigMap => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace, ...metadata },
      ...(data && { data }),
    });
    const pod = (metadata: Pod['metadata']): Pod => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace, ...metadata },
      // No scheduler of that name exists, so the pod stays as the test leaves it.
      spec: {
        schedulerName: 'nobody',
        terminationGracePeriodSeconds: 0,
        containers: [{ name: 'main', image: 'none' }],
      },
    });
    const deployment = (deploymentName: string): Deployment => ({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: deploymentName, namespace },
      spec: {
        replicas: 0,
        selector: { matchLabels: { app: deploymentName } },
        template: {
          metadata: { labels: { app: deploymentName } },
          spec: {
            schedulerName: 'nobody',
            containers: [
              { name: 'main', image: 'main:1' },
              { name: 'side', image: 'side:1' },
            ],
          },
        },
      },
    });

    beforeAll(async () => {
      under = await open();
      client = under.client;
      const made = await client.create(NAMESPACES, {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { generateName: 'conformance-' },
      });
      namespace = made.metadata.name!;
    });

    afterAll(async () => {
      await client?.delete(NAMESPACES, { name: namespace });
      await under?.close?.();
    });

    describe('create and get', () => {
      it('fills in uid, resource version and creation time, and reads the same object back', async () => {
        const made = await client.create(CONFIG_MAPS, configMap({ name: fresh('made') }, { a: '1' }));
        expect(made).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', data: { a: '1' } });
        expect(made.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
        expect(made.metadata.resourceVersion).toMatch(/^\d+$/);
        expect(made.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
        expect(await client.get(CONFIG_MAPS, keyOf(made))).toEqual(made);
      });

      it('makes a name from generateName', async () => {
        const made = await client.create(CONFIG_MAPS, configMap({ generateName: 'gen-' }));
        expect(made.metadata.name).toMatch(/^gen-[a-z0-9]{5}$/);
      });

      it('refuses a second object of the same name', async () => {
        const object = configMap({ name: fresh('twice') });
        await client.create(CONFIG_MAPS, object);
        const error = await failure(client.create(CONFIG_MAPS, object), 'KUBE_ALREADY_EXISTS');
        expect(error.message).toBe(`configmaps "${object.metadata.name}" already exists`);
      });

      it('says which object does not exist', async () => {
        const error = await failure(client.get(CONFIG_MAPS, { namespace, name: 'absent' }), 'KUBE_NOT_FOUND');
        expect(error.message).toBe('configmaps "absent" not found');
        expect(error.status).toMatchObject({
          reason: 'NotFound',
          code: 404,
          details: { name: 'absent', kind: 'configmaps' },
        });
      });

      it('refuses an object in a namespace that does not exist', async () => {
        const object = configMap({ name: 'x', namespace: 'no-such-namespace' });
        const error = await failure(client.create(CONFIG_MAPS, object), 'KUBE_NOT_FOUND');
        expect(error.message).toBe('namespaces "no-such-namespace" not found');
      });

      it('refuses a name that is none, and says which field is wrong', async () => {
        const error = await failure(client.create(CONFIG_MAPS, configMap({ name: 'Not A Name' })), 'KUBE_INVALID');
        expect(error.status.details?.causes).toEqual([
          expect.objectContaining({ field: 'metadata.name', reason: 'FieldValueInvalid' }),
        ]);
      });

      it('writes nothing in a dry run', async () => {
        const object = configMap({ name: fresh('dry') });
        const made = await client.create(CONFIG_MAPS, object, { dryRun: true });
        expect(made.metadata.uid).toBeDefined();
        await failure(client.get(CONFIG_MAPS, keyOf(object)), 'KUBE_NOT_FOUND');
      });

      it('refuses a field that the kind does not have when validation is strict', async () => {
        const object = { ...configMap({ name: fresh('strict') }), dota: { a: '1' } };
        const error = await failure(
          client.create(CONFIG_MAPS, object, { fieldValidation: 'Strict' }),
          'KUBE_BAD_REQUEST',
        );
        expect(error.message).toContain('unknown field "dota"');
      });

      it('rejects with the reason of a signal that is aborted', async () => {
        const reason = new Error('enough');
        await expect(client.get(NAMESPACES, { name: namespace }, { signal: AbortSignal.abort(reason) })).rejects.toBe(
          reason,
        );
      });
    });

    describe('replace', () => {
      it('writes the whole object', async () => {
        const made = await client.create(CONFIG_MAPS, configMap({ name: fresh('whole') }, { a: '1', b: '2' }));
        const replaced = await client.replace(CONFIG_MAPS, { ...made, data: { a: '3' } });
        expect(replaced.data).toEqual({ a: '3' });
        expect(replaced.metadata.resourceVersion).not.toBe(made.metadata.resourceVersion);
        expect(replaced.metadata.uid).toBe(made.metadata.uid);
      });

      it('keeps the resource version when nothing changes', async () => {
        const made = await client.create(CONFIG_MAPS, configMap({ name: fresh('same') }, { a: '1' }));
        const replaced = await client.replace(CONFIG_MAPS, made);
        expect(replaced.metadata.resourceVersion).toBe(made.metadata.resourceVersion);
      });

      it('refuses an object that has changed since it was read', async () => {
        const made = await client.create(CONFIG_MAPS, configMap({ name: fresh('stale') }, { a: '1' }));
        await client.replace(CONFIG_MAPS, { ...made, data: { a: '2' } });
        const error = await failure(client.replace(CONFIG_MAPS, { ...made, data: { a: '3' } }), 'KUBE_CONFLICT');
        expect(error.message).toBe(
          `Operation cannot be fulfilled on configmaps "${made.metadata.name}": the object has been modified; please apply your changes to the latest version and try again`,
        );
      });

      it('does not create what is not there', async () => {
        await failure(client.replace(CONFIG_MAPS, configMap({ name: 'never-made' })), 'KUBE_NOT_FOUND');
      });
    });

    describe('list', () => {
      it('selects by label and by field', async () => {
        const group = fresh('select');
        for (const tier of ['a', 'b', 'c']) {
          await client.create(CONFIG_MAPS, configMap({ name: `${group}-${tier}`, labels: { group, tier } }));
        }
        const names = async (query: { labelSelector?: string; fieldSelector?: string }): Promise<string[]> => {
          const { items } = await client.list(CONFIG_MAPS, { namespace, ...query });
          return items.map((item) => item.metadata.name!.slice(group.length + 1)).sort();
        };
        expect(await names({ labelSelector: `group=${group},tier in (a,b)` })).toEqual(['a', 'b']);
        expect(await names({ labelSelector: `group=${group},tier!=a` })).toEqual(['b', 'c']);
        expect(await names({ labelSelector: `group=${group},!absent` })).toEqual(['a', 'b', 'c']);
        expect(await names({ fieldSelector: `metadata.name=${group}-b` })).toEqual(['b']);
      });

      it('gives every object once over pages', async () => {
        const group = fresh('page');
        const labelSelector = `group=${group}`;
        for (let index = 0; index < 7; index++) {
          await client.create(CONFIG_MAPS, configMap({ name: `${group}-${index}`, labels: { group } }));
        }
        const seen: string[] = [];
        let next: string | undefined;
        do {
          const page = await client.list(CONFIG_MAPS, {
            namespace,
            labelSelector,
            limit: 3,
            ...(next && { continue: next }),
          });
          expect(page.items.length).toBeLessThanOrEqual(3);
          seen.push(...page.items.map((item) => item.metadata.name!));
          next = page.continue;
        } while (next !== undefined);
        expect(seen).toEqual(Array.from({ length: 7 }, (_, index) => `${group}-${index}`));
      });

      it('gives each item its apiVersion and kind', async () => {
        await client.create(CONFIG_MAPS, configMap({ name: fresh('kind') }));
        const { items, resourceVersion } = await client.list(CONFIG_MAPS, { namespace });
        expect(items.every((item) => item.apiVersion === 'v1' && item.kind === 'ConfigMap')).toBe(true);
        expect(resourceVersion).toMatch(/^\d+$/);
      });

      it('lists all namespaces when none is named', async () => {
        const made = await client.create(CONFIG_MAPS, configMap({ name: fresh('everywhere') }));
        const { items } = await client.list(CONFIG_MAPS);
        expect(items.map((item) => item.metadata.uid)).toContain(made.metadata.uid);
      });

      it('refuses a label selector that cannot be read', async () => {
        await failure(client.list(CONFIG_MAPS, { namespace, labelSelector: 'a in (' }), 'KUBE_BAD_REQUEST');
      });
    });

    describe('watch', () => {
      const take = async (
        count: number,
        query: WatchQuery,
        meanwhile: () => Promise<void> = async () => {},
      ): Promise<WatchEvent<ConfigMap>[]> => {
        const stop = new AbortController();
        const events: WatchEvent<ConfigMap>[] = [];
        const watching = (async () => {
          for await (const event of client.watch(CONFIG_MAPS, { namespace, ...query }, { signal: stop.signal })) {
            events.push(event);
            if (events.length >= count) return;
          }
        })();
        await meanwhile();
        await watching;
        return events;
      };
      const summary = (events: readonly WatchEvent<ConfigMap>[]): string[] =>
        events.map((event) => (event.type === 'BOOKMARK' ? 'BOOKMARK' : `${event.type} ${event.object.metadata.name}`));

      it('tells every change after a resource version, in order', async () => {
        const group = fresh('watch');
        const labels = { group };
        const { resourceVersion } = await client.list(CONFIG_MAPS, { namespace });
        const events = await take(4, { resourceVersion, labelSelector: `group=${group}` }, async () => {
          const made = await client.create(CONFIG_MAPS, configMap({ name: `${group}-1`, labels }));
          await client.create(CONFIG_MAPS, configMap({ name: `${group}-2`, labels }));
          await client.replace(CONFIG_MAPS, { ...made, data: { a: '1' } });
          await client.delete(CONFIG_MAPS, keyOf(made));
        });
        expect(summary(events)).toEqual([
          `ADDED ${group}-1`,
          `ADDED ${group}-2`,
          `MODIFIED ${group}-1`,
          `DELETED ${group}-1`,
        ]);
      });

      it('goes on from the version of the last event without losing or repeating one', async () => {
        const group = fresh('resume');
        const labelSelector = `group=${group}`;
        const { resourceVersion } = await client.list(CONFIG_MAPS, { namespace });
        for (const index of [1, 2, 3]) {
          await client.create(CONFIG_MAPS, configMap({ name: `${group}-${index}`, labels: { group } }));
        }
        const [first] = await take(1, { resourceVersion, labelSelector });
        const last = (first as { object: ConfigMap }).object.metadata.resourceVersion!;
        const rest = await take(2, { resourceVersion: last, labelSelector });
        expect(summary([first!, ...rest])).toEqual([1, 2, 3].map((index) => `ADDED ${group}-${index}`));
      });

      it('sends the present state first when no version is given', async () => {
        const group = fresh('present');
        await client.create(CONFIG_MAPS, configMap({ name: `${group}-1`, labels: { group } }));
        const events = await take(1, { labelSelector: `group=${group}` });
        expect(summary(events)).toEqual([`ADDED ${group}-1`]);
      });

      it('marks the end of a streamed list with a bookmark', async () => {
        const group = fresh('stream');
        for (const index of [1, 2]) {
          await client.create(CONFIG_MAPS, configMap({ name: `${group}-${index}`, labels: { group } }));
        }
        const events = await settle(
          take(3, { labelSelector: `group=${group}`, sendInitialEvents: true, allowBookmarks: true }),
        );
        expect(summary(events).sort()).toEqual([`ADDED ${group}-1`, `ADDED ${group}-2`, 'BOOKMARK']);
        expect(events[2]).toMatchObject({
          type: 'BOOKMARK',
          initialEventsEnd: true,
          resourceVersion: expect.stringMatching(/^\d+$/),
        });
      });

      it('tells an object that leaves the selection as deleted, and one that enters it as added', async () => {
        const group = fresh('leave');
        const made = await client.create(CONFIG_MAPS, configMap({ name: group, labels: { group } }));
        const from = made.metadata.resourceVersion!;
        const events = await take(2, { resourceVersion: from, labelSelector: `group=${group}` }, async () => {
          const patch = (value: string | null) =>
            ({ type: 'merge', body: { metadata: { labels: { group: value } } } }) as const;
          await client.patch(CONFIG_MAPS, keyOf(made), patch(null));
          await client.patch(CONFIG_MAPS, keyOf(made), patch(group));
        });
        expect(summary(events)).toEqual([`DELETED ${group}`, `ADDED ${group}`]);
      });

      it('ends without an error when the signal aborts', async () => {
        const stop = new AbortController();
        const { resourceVersion } = await client.list(CONFIG_MAPS, { namespace });
        const watching = (async () => {
          for await (const _ of client.watch(CONFIG_MAPS, { namespace, resourceVersion }, { signal: stop.signal }));
        })();
        await client.get(NAMESPACES, { name: namespace });
        stop.abort();
        await expect(watching).resolves.toBeUndefined();
      });

      it('is ended by the server after its time', async () => {
        const { resourceVersion } = await client.list(CONFIG_MAPS, { namespace, labelSelector: 'none=here' });
        const query = { resourceVersion, labelSelector: 'none=here', timeoutSeconds: 1 };
        expect(await settle(take(1, query))).toEqual([]);
      });
    });

    describe('patch', () => {
      it('merges, and removes what is null', async () => {
        const made = await client.create(CONFIG_MAPS, configMap({ name: fresh('merge') }, { a: '1', b: '2' }));
        const patched = await client.patch(CONFIG_MAPS, keyOf(made), {
          type: 'merge',
          body: { data: { a: null, c: '3' } },
        });
        expect(patched.data).toEqual({ b: '2', c: '3' });
      });

      it('carries out JSON operations one after the other', async () => {
        const made = await client.create(CONFIG_MAPS, configMap({ name: fresh('json') }, { a: '1' }));
        const patched = await client.patch(CONFIG_MAPS, keyOf(made), {
          type: 'json',
          operations: [
            { op: 'test', path: '/data/a', value: '1' },
            { op: 'add', path: '/data/b', value: '2' },
            { op: 'remove', path: '/data/a' },
          ],
        });
        expect(patched.data).toEqual({ b: '2' });
      });

      it('carries out no JSON operation when a test among them fails', async () => {
        const made = await client.create(CONFIG_MAPS, configMap({ name: fresh('test') }, { a: '1' }));
        const operations = [
          { op: 'add', path: '/data/b', value: '2' },
          { op: 'test', path: '/data/a', value: 'other' },
        ] as const;
        await failure(client.patch(CONFIG_MAPS, keyOf(made), { type: 'json', operations }), 'KUBE_INVALID');
        expect((await client.get(CONFIG_MAPS, keyOf(made))).data).toEqual({ a: '1' });
      });

      it('merges lists of objects by their key when strategic', async () => {
        const made = await client.create(DEPLOYMENTS, deployment(fresh('strategic')));
        const body = { spec: { template: { spec: { containers: [{ name: 'side', image: 'side:2' }] } } } };
        const patched = await client.patch(DEPLOYMENTS, keyOf(made), { type: 'strategic', body });
        const images = patched.spec.template.spec.containers.map((container) => container.image);
        expect(images.sort()).toEqual(['main:1', 'side:2']);
      });

      it('refuses a patch that carries an old resource version', async () => {
        const made = await client.create(CONFIG_MAPS, configMap({ name: fresh('old') }, { a: '1' }));
        await client.replace(CONFIG_MAPS, { ...made, data: { a: '2' } });
        const body = { metadata: { resourceVersion: made.metadata.resourceVersion }, data: { a: '3' } };
        await failure(client.patch(CONFIG_MAPS, keyOf(made), { type: 'merge', body }), 'KUBE_CONFLICT');
      });

      it('does not create what is not there', async () => {
        const key = { namespace, name: 'never-made' };
        await failure(client.patch(CONFIG_MAPS, key, { type: 'merge', body: {} }), 'KUBE_NOT_FOUND');
      });

      it('counts a generation for a change of the spec alone', async () => {
        const made = await client.create(DEPLOYMENTS, deployment(fresh('generation')));
        const merge = (body: object) => client.patch(DEPLOYMENTS, keyOf(made), { type: 'merge', body });
        expect(made.metadata.generation).toBe(1);
        expect((await merge({ metadata: { labels: { a: 'b' } } })).metadata.generation).toBe(1);
        expect((await merge({ spec: { paused: true } })).metadata.generation).toBe(2);
      });
    });

    describe('server-side apply', () => {
      const apply = (
        objectName: string,
        manager: string,
        data: Record<string, string>,
        force = false,
      ): Promise<ConfigMap> => {
        const body = { metadata: { name: objectName, namespace }, data };
        const key = { namespace, name: objectName };
        return client.patch(CONFIG_MAPS, key, { type: 'apply', body, force }, { fieldManager: manager });
      };

      it('creates what is not there and notes who owns which field', async () => {
        const made = await apply(fresh('apply'), 'one', { a: '1' });
        expect(made.data).toEqual({ a: '1' });
        expect(made.metadata.managedFields).toEqual([
          expect.objectContaining({
            manager: 'one',
            operation: 'Apply',
            apiVersion: 'v1',
            fieldsV1: { 'f:data': { 'f:a': {} } },
          }),
        ]);
      });

      it('refuses to change a field of another manager, and names both', async () => {
        const objectName = fresh('conflict');
        await apply(objectName, 'one', { a: '1' });
        const error = await failure(apply(objectName, 'two', { a: '2' }), 'KUBE_CONFLICT');
        expect(error.message).toBe('Apply failed with 1 conflict: conflict with "one": .data.a');
        expect(error.status.details?.causes).toEqual([
          { reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.data.a' },
        ]);
      });

      it('takes the field when forced', async () => {
        const objectName = fresh('force');
        await apply(objectName, 'one', { a: '1' });
        const taken = await apply(objectName, 'two', { a: '2' }, true);
        expect(taken.data).toEqual({ a: '2' });
        expect(taken.metadata.managedFields?.map((entry) => entry.manager)).toEqual(['two']);
      });

      it('lets managers share an object, and agree on a value', async () => {
        const objectName = fresh('share');
        await apply(objectName, 'one', { a: '1', both: 'same' });
        const shared = await apply(objectName, 'two', { b: '2', both: 'same' });
        expect(shared.data).toEqual({ a: '1', b: '2', both: 'same' });
      });

      it('removes what a manager no longer applies, unless another one owns it too', async () => {
        const objectName = fresh('drop');
        await apply(objectName, 'one', { a: '1', both: 'same' });
        await apply(objectName, 'two', { b: '2', both: 'same' });
        const dropped = await apply(objectName, 'one', {});
        expect(dropped.data).toEqual({ b: '2', both: 'same' });
      });

      it('changes nothing when the same is applied again', async () => {
        const objectName = fresh('again');
        const first = await apply(objectName, 'one', { a: '1' });
        const second = await apply(objectName, 'one', { a: '1' });
        expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
      });

      it('conflicts with a field that was written by an update', async () => {
        const made = await client.create(CONFIG_MAPS, configMap({ name: fresh('update') }, { a: '1' }), {
          fieldManager: 'hand',
        });
        const error = await failure(apply(made.metadata.name!, 'one', { a: '2' }), 'KUBE_CONFLICT');
        expect(error.status.details?.causes?.[0]).toMatchObject({ reason: 'FieldManagerConflict', field: '.data.a' });
      });
    });

    describe('subresources', () => {
      it('keeps status and spec apart', async () => {
        const made = await client.create(PODS, { ...pod({ name: fresh('status') }), status: { message: 'ignored' } });
        expect(made.status?.message).toBeUndefined();
        const body = { metadata: { labels: { a: 'b' } }, status: { message: 'written' } };
        const plain = await client.patch(PODS, keyOf(made), { type: 'merge', body });
        expect(plain.metadata.labels).toEqual({ a: 'b' });
        expect(plain.status?.message).toBeUndefined();
        const status = {
          type: 'merge',
          body: { spec: { activeDeadlineSeconds: 5 }, status: { message: 'written' } },
        } as const;
        const written = await client.patch(PODS, keyOf(made), status, { subresource: 'status' });
        expect(written.status?.message).toBe('written');
        expect(written.spec.activeDeadlineSeconds).toBeUndefined();
      });

      it('reads and writes the scale of a workload', async () => {
        const made = await client.create(DEPLOYMENTS, deployment(fresh('scale')));
        const key = keyOf(made);
        const kind = scaleOf(DEPLOYMENTS);
        const scale = await client.get(kind, key, { subresource: 'scale' });
        expect(scale).toMatchObject({ kind: 'Scale', apiVersion: 'autoscaling/v1', spec: {}, status: { replicas: 0 } });
        expect(scale.status?.selector).toBe(`app=${key.name}`);
        const patch = { type: 'merge', body: { spec: { replicas: 2 } } } as const;
        const patched = await client.patch(kind, key, patch, { subresource: 'scale' });
        expect(patched.spec?.replicas).toBe(2);
        // Without a resource version: where there is a deployment controller, it writes to the object too.
        const scaled = { ...patched, metadata: key, spec: { replicas: 1 } };
        const replaced = await client.replace(kind, scaled, { subresource: 'scale' });
        expect(replaced.spec?.replicas).toBe(1);
        expect((await client.get(DEPLOYMENTS, key)).spec.replicas).toBe(1);
      });

      it('binds a pod to a node once', async () => {
        const nodeName = `${namespace}-node`;
        await client.create(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name: nodeName } });
        const made = await client.create(PODS, pod({ name: fresh('bind') }));
        await client.bind(keyOf(made), nodeName);
        const bound = await client.get(PODS, keyOf(made));
        expect(bound.spec.nodeName).toBe(nodeName);
        expect(bound.status?.conditions).toContainEqual(
          expect.objectContaining({ type: 'PodScheduled', status: 'True' }),
        );
        const error = await failure(client.bind(keyOf(made), nodeName), 'KUBE_CONFLICT');
        expect(error.message).toContain(`pod ${made.metadata.name} is already assigned to node "${nodeName}"`);
        await client.delete(PODS, keyOf(made), { gracePeriodSeconds: 0 });
        await client.delete(NODES, { name: nodeName });
      });
    });

    describe('delete', () => {
      it('removes the object', async () => {
        const made = await client.create(CONFIG_MAPS, configMap({ name: fresh('gone') }));
        await client.delete(CONFIG_MAPS, keyOf(made));
        await failure(client.get(CONFIG_MAPS, keyOf(made)), 'KUBE_NOT_FOUND');
        await failure(client.delete(CONFIG_MAPS, keyOf(made)), 'KUBE_NOT_FOUND');
      });

      it('refuses when it is another object than we think', async () => {
        const made = await client.create(CONFIG_MAPS, configMap({ name: fresh('other') }));
        const preconditions = { uid: '00000000-0000-4000-8000-000000000000' };
        await failure(client.delete(CONFIG_MAPS, keyOf(made), { preconditions }), 'KUBE_CONFLICT');
        const stale = { resourceVersion: '1' };
        await failure(client.delete(CONFIG_MAPS, keyOf(made), { preconditions: stale }), 'KUBE_CONFLICT');
        await client.delete(CONFIG_MAPS, keyOf(made), { preconditions: { uid: made.metadata.uid! } });
      });

      it('waits for finalizers', async () => {
        const finalizers = ['spindrift.dev/test'];
        const made = await client.create(CONFIG_MAPS, configMap({ name: fresh('final'), finalizers }));
        await client.delete(CONFIG_MAPS, keyOf(made));
        const held = await client.get(CONFIG_MAPS, keyOf(made));
        expect(held.metadata.deletionTimestamp).toBeDefined();
        await client.patch(CONFIG_MAPS, keyOf(made), { type: 'merge', body: { metadata: { finalizers: null } } });
        await failure(client.get(CONFIG_MAPS, keyOf(made)), 'KUBE_NOT_FOUND');
      });

      it('takes the objects that it owns along', async () => {
        const owner = await client.create(CONFIG_MAPS, configMap({ name: fresh('owner') }));
        const ownerReferences = [
          { apiVersion: 'v1', kind: 'ConfigMap', name: owner.metadata.name!, uid: owner.metadata.uid! },
        ];
        const owned = await client.create(CONFIG_MAPS, configMap({ name: fresh('owned'), ownerReferences }));
        await client.delete(CONFIG_MAPS, keyOf(owner), { propagationPolicy: 'Background' });
        await settle(untilGone(client, owned));
      });
    });

    describe('eviction', () => {
      const running = async (labels: Record<string, string>): Promise<Pod> => {
        const made = await client.create(PODS, pod({ name: fresh('evict'), labels }));
        const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
        return client.patch(PODS, keyOf(made), { type: 'merge', body: { status } }, { subresource: 'status' });
      };

      it('deletes the pod when no budget forbids it', async () => {
        const made = await running({ app: fresh('free') });
        await client.evict(keyOf(made), { gracePeriodSeconds: 0 });
        await failure(client.get(PODS, keyOf(made)), 'KUBE_NOT_FOUND');
      });

      it('is refused while a budget forbids it', async () => {
        const app = fresh('guarded');
        const made = await running({ app });
        await client.create(POD_DISRUPTION_BUDGETS, {
          apiVersion: 'policy/v1',
          kind: 'PodDisruptionBudget',
          metadata: { name: app, namespace },
          spec: { minAvailable: 1, selector: { matchLabels: { app } } },
        });
        const error = await failure(client.evict(keyOf(made)), 'KUBE_DISRUPTION_BUDGET');
        expect(error.status).toMatchObject({ code: 429, reason: 'TooManyRequests' });
        expect((await client.get(PODS, keyOf(made))).metadata.deletionTimestamp).toBeUndefined();
      });

      it('says when the pod does not exist', async () => {
        await failure(client.evict({ namespace, name: 'absent' }), 'KUBE_NOT_FOUND');
      });
    });

    describe('custom resources', () => {
      beforeAll(async () => {
        await client.create(CRDS, WIDGET_CRD).catch((error: unknown) => {
          if (!(error instanceof KubeError) || error.code !== 'KUBE_ALREADY_EXISTS') throw error;
        });
        await settle(untilEstablished(client, WIDGET_CRD.metadata.name));
      });
      const widget = (widgetName: string, spec: Widget['spec']): Widget => ({
        apiVersion: 'conformance.spindrift.dev/v1',
        kind: 'Widget',
        metadata: { name: widgetName, namespace },
        ...(spec && { spec }),
      });

      it('are served as soon as their definition is established, with its defaults', async () => {
        const made = await client.create(WIDGETS, widget(fresh('widget'), { size: 3 }));
        expect(made.spec).toEqual({ size: 3, colour: 'blue' });
        expect((await client.list(WIDGETS, { namespace })).items).toContainEqual(made);
      });

      it('are refused when they break the schema or a rule of it', async () => {
        const small = await failure(client.create(WIDGETS, widget('small', { size: 0 })), 'KUBE_INVALID');
        expect(small.message).toBe(
          'Widget.conformance.spindrift.dev "small" is invalid: spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1',
        );
        const red = await failure(client.create(WIDGETS, widget('red', { size: 20, colour: 'red' })), 'KUBE_INVALID');
        expect(red.message).toContain('a red widget is smaller than 10');
      });

      it('can be applied by several managers', async () => {
        const widgetName = fresh('applied');
        const apply = (fieldManager: string, spec: Widget['spec']): Promise<Widget> =>
          client.patch(
            WIDGETS,
            { namespace, name: widgetName },
            { type: 'apply', body: widget(widgetName, spec) },
            { fieldManager },
          );
        await apply('one', { size: 3 });
        expect((await apply('two', { colour: 'green' })).spec).toEqual({ size: 3, colour: 'green' });
        await failure(apply('two', { size: 4 }), 'KUBE_CONFLICT');
      });
    });
  });
}

/** The KubeError that a call fails with; fails the test when it succeeds or fails otherwise. */
async function failure(call: Promise<unknown>, code: ErrorCode): Promise<KubeError> {
  const outcome = await call.then(
    () => 'success',
    (error: unknown) => error,
  );
  expect(outcome).toBeInstanceOf(SpindriftError);
  expect((outcome as SpindriftError).code, (outcome as Error).message).toBe(code);
  expect(outcome).toBeInstanceOf(KubeError);
  return outcome as KubeError;
}

async function untilGone(client: KubeClient, object: ConfigMap): Promise<void> {
  const { name = '', namespace, resourceVersion } = object.metadata;
  const query = { namespace, resourceVersion, fieldSelector: `metadata.name=${name}` } as WatchQuery;
  for await (const event of client.watch(CONFIG_MAPS, query, { signal: new AbortController().signal })) {
    if (event.type === 'DELETED') return;
  }
}

async function untilEstablished(client: KubeClient, name: string): Promise<void> {
  const query = { fieldSelector: `metadata.name=${name}` };
  for await (const event of client.watch(CRDS, query, { signal: new AbortController().signal })) {
    if (event.type === 'BOOKMARK' || event.type === 'DELETED') continue;
    const conditions = event.object.status?.conditions ?? [];
    if (conditions.some((condition) => condition.type === 'Established' && condition.status === 'True')) return;
  }
}
