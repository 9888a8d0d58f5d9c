import { describe, expect, it } from 'vitest';
import { CONFIG_MAPS, type ConfigMap, NAMESPACES } from '../../apis/kubernetes/core.ts';
import { EVENTS } from '../../apis/kubernetes/event.ts';
import { type KubeObject, resource } from '../../apis/kubernetes/object.ts';
import { PODS, type Pod } from '../../apis/kubernetes/pod.ts';
import { POD_DISRUPTION_BUDGETS, type PodDisruptionBudget } from '../../apis/kubernetes/pod-disruption-budget.ts';
import { PERSISTENT_VOLUME_CLAIMS, STORAGE_CLASSES } from '../../apis/kubernetes/volumes.ts';
import { DEPLOYMENTS, type Deployment } from '../../apis/kubernetes/workloads.ts';
import { seededRandom } from '../../platform/random.ts';
import { VirtualClock } from '../../platform/virtual-clock.ts';
import { InMemoryClient } from '../in-memory-client.ts';
import { ApiServer } from './api-server.ts';
import type { ServerWatchEvent, Watch } from './watching.ts';

const DEFAULT = 'default';

function world(rememberedEvents = 1000) {
  const clock = new VirtualClock();
  const server = new ApiServer({ clock, random: seededRandom(1), rememberedEvents });
  return { clock, server, client: new InMemoryClient(server) };
}

function pod(name: string, more: Partial<Pod['spec']> = {}, labels: Record<string, string> = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: DEFAULT, labels },
    spec: { containers: [{ name: 'main', image: 'main:1' }], ...more },
  };
}

function configMap(name: string, data: Record<string, string> = {}): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: DEFAULT }, data };
}

function taken(watch: Watch): string[] {
  const events: ServerWatchEvent[] = [];
  for (let event = watch.take(); event !== undefined; event = watch.take()) events.push(event);
  return events.map((event) =>
    event.type === 'BOOKMARK' ? `BOOKMARK ${event.initialEventsEnd}` : `${event.type} ${event.object.metadata.name}`,
  );
}

describe('a new object', () => {
  it('whose name the server makes up gets another one where that is taken', async () => {
    const clock = new VirtualClock();
    const random = seededRandom(1);
    const suffixes = ['first', 'first', 'other'];
    Object.assign(random, { split: () => random, suffix: () => suffixes.shift() });
    const client = new InMemoryClient(new ApiServer({ clock, random }));
    const nameless = { ...configMap(''), metadata: { generateName: 'map-', namespace: DEFAULT } };
    const made = [await client.create(CONFIG_MAPS, nameless), await client.create(CONFIG_MAPS, nameless)];
    expect(made.map(({ metadata }) => metadata.name)).toEqual(['map-first', 'map-other']);
  });
});

describe('a new pod', () => {
  it('gets what its manifest leaves out', async () => {
    const { client } = world();
    const made = await client.create(
      PODS,
      pod('p', { containers: [{ name: 'main', image: 'main', resources: { limits: { cpu: '0.5' } } }] }),
    );
    expect(made.spec).toMatchObject({
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      schedulerName: 'default-scheduler',
      priority: 0,
      serviceAccountName: 'default',
    });
    expect(made.spec.containers[0]).toMatchObject({
      imagePullPolicy: 'Always',
      resources: { limits: { cpu: '500m' }, requests: { cpu: '500m' } },
    });
    expect(made.spec.tolerations?.map(({ key, tolerationSeconds }) => [key, tolerationSeconds])).toEqual([
      ['node.kubernetes.io/not-ready', 300],
      ['node.kubernetes.io/unreachable', 300],
    ]);
    expect(made.status).toEqual({ phase: 'Pending', qosClass: 'Burstable' });
    expect(made.metadata.generation).toBe(1);
  });

  it('takes its priority from the class it names, which must exist', async () => {
    const { client } = world();
    const made = await client.create(PODS, pod('p', { priorityClassName: 'system-node-critical' }));
    expect(made.spec.priority).toBe(2_000_001_000);
    await expect(client.create(PODS, pod('q', { priorityClassName: 'nope' }))).rejects.toMatchObject({
      message: 'pods "q" is forbidden: no PriorityClass with name nope was found',
    });
  });

  it('is refused with every rule that it breaks', async () => {
    const { client } = world();
    const broken = pod('p', {
      containers: [
        { name: 'a', image: 'x' },
        { name: 'a' },
        { name: 'B', image: 'x', resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } },
      ],
    });
    await expect(client.create(PODS, broken)).rejects.toMatchObject({
      code: 'KUBE_INVALID',
      status: {
        details: {
          kind: 'Pod',
          causes: [
            { reason: 'FieldValueDuplicate', field: 'spec.containers[1].name' },
            { reason: 'FieldValueRequired', field: 'spec.containers[1].image' },
            { reason: 'FieldValueInvalid', field: 'spec.containers[2].name' },
            {
              reason: 'FieldValueInvalid',
              field: 'spec.containers[2].resources.requests',
              message: 'Invalid value: "2": must be less than or equal to cpu limit of 1',
            },
          ],
        },
      },
    });
  });

  it('cannot be changed much later', async () => {
    const { client } = world();
    const made = await client.create(PODS, pod('p', { schedulingGates: [{ name: 'wait' }] }));
    const patch = (spec: object) =>
      client.patch(PODS, { name: 'p', namespace: DEFAULT }, { type: 'merge', body: { spec } });
    await expect(patch({ hostNetwork: true })).rejects.toMatchObject({ code: 'KUBE_INVALID' });
    await expect(patch({ schedulingGates: [{ name: 'wait' }, { name: 'more' }] })).rejects.toMatchObject({
      code: 'KUBE_INVALID',
    });
    await expect(patch({ tolerations: [] })).rejects.toMatchObject({ code: 'KUBE_INVALID' });
    const allowed = await patch({
      schedulingGates: null,
      nodeSelector: { zone: 'a' },
      tolerations: [...made.spec.tolerations!, { key: 'x', operator: 'Exists' }],
    });
    expect(allowed.metadata.generation).toBe(2);
  });
});

describe('a namespace', () => {
  it('stays, Terminating, until its content is gone, and takes nothing new', async () => {
    const { client, server } = world();
    await client.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } });
    const left = await client.delete(NAMESPACES, { name: 'n' });
    expect(left).toMatchObject({ kind: 'Namespace', status: { phase: 'Terminating' } });
    const late = client.create(CONFIG_MAPS, { ...configMap('late'), metadata: { name: 'late', namespace: 'n' } });
    await expect(late).rejects.toMatchObject({
      code: 'KUBE_FORBIDDEN',
      message:
        'configmaps "late" is forbidden: unable to create new content in namespace n because it is being terminated',
    });
    server.finalizeNamespace('n', []);
    await expect(client.get(NAMESPACES, { name: 'n' })).rejects.toMatchObject({ code: 'KUBE_NOT_FOUND' });
  });

  it('that the cluster cannot do without stays', async () => {
    const { client } = world();
    await expect(client.delete(NAMESPACES, { name: 'kube-system' })).rejects.toMatchObject({
      message: 'namespaces "kube-system" is forbidden: this namespace may not be deleted',
    });
  });
});

describe('an eviction', () => {
  async function guarded(status: PodDisruptionBudget['status'], ready = true) {
    const { client, clock } = world();
    const key = { name: 'p', namespace: DEFAULT };
    await client.create(PODS, pod('p', {}, { app: 'web' }));
    const body = { status: { phase: 'Running', conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] } };
    await client.patch(PODS, key, { type: 'merge', body }, { subresource: 'status' });
    await client.create(POD_DISRUPTION_BUDGETS, {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'budget', namespace: DEFAULT },
      spec: { minAvailable: 2, selector: { matchLabels: { app: 'web' } } },
    });
    const patch = { type: 'merge', body: { status } } as const;
    await client.patch(POD_DISRUPTION_BUDGETS, { name: 'budget', namespace: DEFAULT }, patch, {
      subresource: 'status',
    });
    const budget = () => client.get(POD_DISRUPTION_BUDGETS, { name: 'budget', namespace: DEFAULT });
    return { client, clock, key, budget };
  }

  it('spends one disruption of the budget and notes the pod', async () => {
    const { client, key, budget } = await guarded({
      observedGeneration: 1,
      disruptionsAllowed: 1,
      currentHealthy: 3,
      desiredHealthy: 2,
    });
    await client.evict(key, { dryRun: true });
    expect((await budget()).status?.disruptionsAllowed).toBe(1);
    await client.evict(key);
    expect((await budget()).status).toMatchObject({
      disruptionsAllowed: 0,
      disruptedPods: { p: '2030-01-01T00:00:00Z' },
    });
    await expect(client.get(PODS, key)).rejects.toMatchObject({ code: 'KUBE_NOT_FOUND' });
  });

  it('makes a pod that ends gracefully say why it goes', async () => {
    const { client, key } = await guarded({ observedGeneration: 1, disruptionsAllowed: 1 });
    await client.bind(key, 'node');
    const { uid, resourceVersion } = (await client.get(PODS, key)).metadata;
    await client.evict(key, { preconditions: { uid: uid!, resourceVersion: resourceVersion! } });
    const { metadata, status } = await client.get(PODS, key);
    expect(metadata.deletionGracePeriodSeconds).toBe(30);
    expect(status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' }),
    );
  });

  it('is refused with the numbers of the budget when none is left', async () => {
    const { client, key } = await guarded({
      observedGeneration: 1,
      disruptionsAllowed: 0,
      currentHealthy: 2,
      desiredHealthy: 2,
    });
    await expect(client.evict(key)).rejects.toMatchObject({
      code: 'KUBE_DISRUPTION_BUDGET',
      message: "Cannot evict pod as it would violate the pod's disruption budget.",
      status: {
        details: {
          causes: [
            {
              reason: 'DisruptionBudget',
              message: 'The disruption budget budget needs 2 healthy pods and has 2 currently',
            },
          ],
        },
      },
    });
  });

  it('is put off while the budget has not been counted yet', async () => {
    const { client, key } = await guarded({ disruptionsAllowed: 5 });
    await expect(client.evict(key)).rejects.toMatchObject({ retryAfterMs: 10_000 });
  });

  it('of a pod that is not ready goes ahead when enough others are', async () => {
    const { client, key } = await guarded(
      { observedGeneration: 1, disruptionsAllowed: 0, currentHealthy: 2, desiredHealthy: 2 },
      false,
    );
    await client.evict(key);
    await expect(client.get(PODS, key)).rejects.toMatchObject({ code: 'KUBE_NOT_FOUND' });
  });

  it('is refused when two budgets claim the pod', async () => {
    const { client, key, budget } = await guarded({ observedGeneration: 1, disruptionsAllowed: 1 });
    const { uid: _, resourceVersion: __, ...metadata } = (await budget()).metadata;
    await client.create(POD_DISRUPTION_BUDGETS, { ...(await budget()), metadata: { ...metadata, name: 'second' } });
    await expect(client.evict(key)).rejects.toMatchObject({
      message: 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    });
  });
});

describe('a deletion', () => {
  it('shortens a grace period that is running, and never lengthens it', async () => {
    const { client } = world();
    const key = { name: 'p', namespace: DEFAULT };
    await client.create(PODS, pod('p'));
    await client.bind(key, 'node');
    const grace = async (gracePeriodSeconds: number) =>
      ((await client.delete(PODS, key, { gracePeriodSeconds })) as Pod).metadata;
    expect(await grace(60)).toMatchObject({
      deletionTimestamp: '2030-01-01T00:01:00Z',
      deletionGracePeriodSeconds: 60,
    });
    expect(await grace(100)).toMatchObject({ deletionGracePeriodSeconds: 60 });
    expect(await grace(5)).toMatchObject({ deletionTimestamp: '2030-01-01T00:00:05Z', deletionGracePeriodSeconds: 5 });
  });

  it('of a collection takes all that is selected', async () => {
    const { client, server } = world();
    for (const name of ['a', 'b']) await client.create(CONFIG_MAPS, configMap(name));
    server.deleteCollection(CONFIG_MAPS, { namespace: DEFAULT, fieldSelector: 'metadata.name!=b' });
    expect((await client.list(CONFIG_MAPS)).items.map(({ metadata }) => metadata.name)).toEqual(['b']);
  });
});

describe('a watch', () => {
  it('sends bookmarks from time to time, so that its place is never forgotten', async () => {
    const { client, clock, server } = world(4);
    const watch = server.watch(CONFIG_MAPS, {
      resourceVersion: String(server.world.store.revision),
      allowBookmarks: true,
    });
    for (let index = 0; index < 20; index++) await client.create(EVENTS, event(`e${index}`));
    await clock.advance(60_000);
    expect(watch.take()).toEqual({ type: 'BOOKMARK', revision: server.world.store.revision, initialEventsEnd: false });
    watch.close();
    expect(clock.pending).toBe(0);
  });

  it('with a field selector sees pods come onto a node and leave it', async () => {
    const { client, server } = world();
    const watch = server.watch(PODS, { fieldSelector: 'spec.nodeName=n1', sendInitialEvents: true });
    expect(taken(watch)).toEqual(['BOOKMARK true']);
    await client.create(PODS, pod('p'));
    await client.bind({ name: 'p', namespace: DEFAULT }, 'n1');
    await client.delete(PODS, { name: 'p', namespace: DEFAULT }, { gracePeriodSeconds: 0 });
    expect(taken(watch)).toEqual(['ADDED p', 'DELETED p']);
  });

  it('is refused for a version that has not happened, and for a field that the kind does not have', () => {
    const { server } = world();
    expect(() => server.watch(PODS, { resourceVersion: '999' })).toThrow('Too large resource version: 999, current: ');
    expect(() => server.watch(PODS, { fieldSelector: 'spec.image=x' })).toThrow(
      'field label not supported: spec.image',
    );
  });
});

describe('another view of a kind', () => {
  it('shows and takes events under the names of events.k8s.io', async () => {
    const { client } = world();
    const newer = resource<KubeObject & { note?: string; regarding?: object }>(
      'events.k8s.io/v1',
      'Event',
      'events',
      'namespaced',
    );
    await client.create(EVENTS, event('e'));
    const seen = await client.get(newer, { name: 'e', namespace: DEFAULT });
    expect(seen).toMatchObject({ apiVersion: 'events.k8s.io/v1', note: 'said', regarding: { kind: 'Pod' } });
    await client.create(newer, {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: 'f', namespace: DEFAULT },
      note: 'new',
      regarding: { kind: 'Node' },
    });
    expect(await client.get(EVENTS, { name: 'f', namespace: DEFAULT })).toMatchObject({
      message: 'new',
      involvedObject: { kind: 'Node' },
    });
  });

  it('shows custom resources in each version that is served', async () => {
    const { client } = world();
    const version = (name: string, storage: boolean) => ({
      name,
      served: true,
      storage,
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: { spec: { type: 'object', properties: { a: { type: 'integer' } } } },
        },
      },
    });
    await client.create(
      resource('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'customresourcedefinitions', 'cluster'),
      {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: 'toys.example.com' },
        spec: {
          group: 'example.com',
          scope: 'Cluster',
          names: { plural: 'toys', kind: 'Toy' },
          versions: [version('v1', true), version('v2', false)],
        },
      } as KubeObject,
    );
    const [v1, v2] = ['v1', 'v2'].map((name) =>
      resource<KubeObject & { spec?: object }>(`example.com/${name}`, 'Toy', 'toys', 'cluster'),
    );
    await client.create(v2!, { apiVersion: 'example.com/v2', kind: 'Toy', metadata: { name: 't' }, spec: { a: 1 } });
    expect(await client.get(v1!, { name: 't' })).toMatchObject({ apiVersion: 'example.com/v1', spec: { a: 1 } });
    expect((await client.list(v2!)).items).toMatchObject([{ apiVersion: 'example.com/v2' }]);
    await client.delete(
      resource('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'customresourcedefinitions', 'cluster'),
      { name: 'toys.example.com' },
    );
    await expect(client.list(v1!)).rejects.toMatchObject({
      code: 'KUBE_NOT_FOUND',
      message: 'the server could not find the requested resource',
    });
  });
});

describe('a custom resource whose schema has defaults', () => {
  const DEFINITIONS = resource<KubeObject>(
    'apiextensions.k8s.io/v1',
    'CustomResourceDefinition',
    'customresourcedefinitions',
    'cluster',
  );
  type Toy = KubeObject & {
    readonly spec?: object;
    readonly status?: { readonly phase?: string; readonly seen?: number };
  };
  const TOYS = resource<Toy>('example.com/v1', 'Toy', 'toys', 'cluster');
  const toy = (name: string): Toy => ({ apiVersion: 'example.com/v1', kind: 'Toy', metadata: { name }, spec: {} });
  const definition = (spec: object) => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'toys.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names: { plural: 'toys', kind: 'Toy' },
      versions: [
        {
          ...{ name: 'v1', served: true, storage: true, subresources: { status: {} } },
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: {
                spec: { type: 'object', properties: spec },
                status: {
                  type: 'object',
                  default: { phase: 'New' },
                  properties: { phase: { type: 'string' }, seen: { type: 'integer', default: 0 } },
                },
              },
            },
          },
        },
      ],
    },
  });

  it('is read with those below status, which no create can bring, in every answer and on every watch', async () => {
    const { client, server } = world();
    await client.create(DEFINITIONS, definition({}) as KubeObject);
    const watch = server.watch(TOYS, {});
    const status = { phase: 'New', seen: 0 };
    expect(await client.create(TOYS, { ...toy('a'), status: { phase: 'mine' } })).toMatchObject({ status });
    expect(await client.get(TOYS, { name: 'a' })).toMatchObject({ status });
    expect((await client.list(TOYS)).items).toMatchObject([{ status }]);
    expect(watch.take()).toMatchObject({ object: { status } });
    // Reads return the same object until the next write, so that readers can compare by identity.
    expect(await client.get(TOYS, { name: 'a' })).toBe((await client.list(TOYS)).items[0]);
    const body = { status: { phase: 'Old' } };
    await client.patch(TOYS, { name: 'a' }, { type: 'merge', body }, { subresource: 'status' });
    expect(await client.get(TOYS, { name: 'a' })).toMatchObject({ status: { phase: 'Old', seen: 0 } });
  });

  it('is read with defaults that its definition was given after it had been written', async () => {
    const { client } = world();
    await client.create(DEFINITIONS, definition({}) as KubeObject);
    await client.create(TOYS, toy('a'));
    const body = { spec: definition({ colour: { type: 'string', default: 'red' } }).spec };
    await client.patch(DEFINITIONS, { name: 'toys.example.com' }, { type: 'merge', body });
    expect(await client.get(TOYS, { name: 'a' })).toMatchObject({ spec: { colour: 'red' } });
  });
});

describe('a claim that names no storage class', () => {
  it('gets the newest class that is marked as the default', async () => {
    const { client, clock } = world();
    const claim = (name: string, more: object = {}) => ({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name, namespace: DEFAULT },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...more },
    });
    const classNamed = (name: string, isDefault: boolean) => ({
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name, annotations: { 'storageclass.kubernetes.io/is-default-class': String(isDefault) } },
      provisioner: 'example.com/p',
    });
    expect((await client.create(PERSISTENT_VOLUME_CLAIMS, claim('before'))).spec.storageClassName).toBeUndefined();
    for (const [name, isDefault] of [
      ['old', true],
      ['new', true],
      ['other', false],
    ] as const) {
      await client.create(STORAGE_CLASSES, classNamed(name, isDefault));
      await clock.advance(1000);
    }
    expect((await client.create(PERSISTENT_VOLUME_CLAIMS, claim('after'))).spec.storageClassName).toBe('new');
    const none = await client.create(PERSISTENT_VOLUME_CLAIMS, claim('none', { storageClassName: '' }));
    expect(none.spec.storageClassName).toBe('');
  });
});

describe('a write', () => {
  it('of a Deployment may not change what its pods are found by', async () => {
    const { client } = world();
    const labels = { app: 'web' };
    const deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace: DEFAULT },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'b' }] } },
      },
    } as Deployment;
    const made = await client.create(DEPLOYMENTS, deployment);
    expect(made.spec).toMatchObject({
      replicas: 1,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%' } },
    });
    const other = { ...made, spec: { ...made.spec, selector: { matchLabels: { app: 'other' } } } };
    await expect(client.replace(DEPLOYMENTS, other)).rejects.toMatchObject({ code: 'KUBE_INVALID' });
  });

  it('tells of unknown fields and drops them', async () => {
    const { server } = world();
    const warnings: string[] = [];
    const odd = { ...configMap('odd'), dota: {}, metadata: { name: 'odd', lable: {} } } as unknown as ConfigMap;
    const made = server.create(CONFIG_MAPS, DEFAULT, odd, {
      fieldValidation: 'Warn',
      warn: (text) => warnings.push(text),
    });
    expect(made).not.toHaveProperty('dota');
    expect(warnings.sort()).toEqual(['unknown field "dota"', 'unknown field "metadata.lable"']);
  });
});

function event(name: string) {
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name, namespace: DEFAULT },
    involvedObject: { kind: 'Pod' },
    type: 'Normal' as const,
    reason: 'Said',
    message: 'said',
  };
}
