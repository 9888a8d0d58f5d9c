import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ManagedFieldsEntry } from '../../../apis/kubernetes/object.ts';
import type { Deployment } from '../../../apis/kubernetes/workloads.ts';
import { DEPLOYMENTS } from '../../../apis/kubernetes/workloads.ts';
import { seededRandom } from '../../../platform/random.ts';
import { VirtualClock } from '../../../platform/virtual-clock.ts';
import { InMemoryClient } from '../../in-memory-client.ts';
import { ApiServer } from '../api-server.ts';
import { fromFieldsV1, intersection, isEmpty, minus, sameSet, toFieldsV1, union } from './field-set.ts';
import { fieldsOf } from './object-fields.ts';

const KEY = { name: 'web', namespace: 'default' };

function world() {
  const clock = new VirtualClock();
  const client = new InMemoryClient(new ApiServer({ clock, random: seededRandom(1) }));
  const apply = (fieldManager: string, spec: object, force = false, subresource?: 'status') => {
    const body = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: KEY, ...spec };
    return client.patch(
      DEPLOYMENTS,
      KEY,
      { type: 'apply', body, force },
      { fieldManager, ...(subresource && { subresource }) },
    );
  };
  return { clock, client, apply };
}

const container = (name: string, more: object = {}) => ({ name, image: `${name}:1`, ...more });
const spec = (containers: object[], more: object = {}) => ({
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers } },
    ...more,
  },
});
const owners = (deployment: Deployment) =>
  deployment.metadata.managedFields?.map(({ manager, operation, subresource }) => [
    manager,
    operation,
    subresource ?? '',
  ]);

describe('server-side apply', () => {
  it('lets two managers own containers of one pod, and removes only what one of them gives up', async () => {
    const { apply } = world();
    await apply('one', spec([container('a')]));
    const both = await apply('two', spec([container('b', { ports: [{ containerPort: 80 }] })]));
    expect(both.spec.template.spec.containers.map(({ name }) => name).sort()).toEqual(['a', 'b']);
    const left = await apply('two', spec([]));
    expect(left.spec.template.spec.containers.map(({ name }) => name)).toEqual(['a']);
  });

  it('takes a container away with everything that defaults had put into it', async () => {
    const { apply } = world();
    await apply('one', spec([container('a'), container('b')]));
    const after = await apply('one', spec([container('a')]));
    expect(after.spec.template.spec.containers).toEqual([
      expect.objectContaining({ name: 'a', imagePullPolicy: 'IfNotPresent' }),
    ]);
  });

  it('names every field that is in conflict, and who has it', async () => {
    const { apply, client } = world();
    await apply('one', spec([container('a')], { replicas: 1 }));
    await client.patch(DEPLOYMENTS, KEY, { type: 'merge', body: { spec: { paused: true } } }, { fieldManager: 'hand' });
    const conflict = apply('two', spec([container('a', { image: 'other' })], { replicas: 2, paused: false }));
    await expect(conflict).rejects.toMatchObject({
      code: 'KUBE_CONFLICT',
      message: [
        'Apply failed with 3 conflicts: conflicts with "hand" using apps/v1:',
        '- .spec.paused',
        'conflicts with "one":',
        '- .spec.replicas',
        '- .spec.template.spec.containers[name="a"].image',
      ].join('\n'),
    });
  });

  it('gives a forced field to the new manager alone', async () => {
    const { apply } = world();
    await apply('one', spec([container('a')], { replicas: 1 }));
    const forced = await apply('two', { spec: { replicas: 3 } }, true);
    expect(forced.spec.replicas).toBe(3);
    const fields = forced.metadata.managedFields?.map((entry: ManagedFieldsEntry) => [
      entry.manager,
      JSON.stringify(entry.fieldsV1).includes('replicas'),
    ]);
    expect(fields).toEqual([
      ['one', false],
      ['two', true],
    ]);
    await apply('one', spec([container('a')]));
  });

  it('notes updates per manager and subresource, and lets go of fields that others write', async () => {
    const { client, clock } = world();
    const { spec: wanted } = spec([container('a')], { replicas: 1 });
    await client.create(
      DEPLOYMENTS,
      { apiVersion: 'apps/v1', kind: 'Deployment', metadata: KEY, spec: wanted } as Deployment,
      { fieldManager: 'maker' },
    );
    await clock.advance(1000);
    await client.patch(
      DEPLOYMENTS,
      KEY,
      { type: 'merge', body: { spec: { replicas: 2 } } },
      { fieldManager: 'scaler' },
    );
    const status = { type: 'merge', body: { status: { replicas: 2 } } } as const;
    const after = await client.patch(DEPLOYMENTS, KEY, status, { fieldManager: 'scaler', subresource: 'status' });
    expect(owners(after)).toEqual([
      ['maker', 'Update', ''],
      ['scaler', 'Update', ''],
      ['scaler', 'Update', 'status'],
    ]);
    const [maker, scaler] = after.metadata.managedFields!;
    expect(JSON.stringify(maker!.fieldsV1)).not.toContain('f:replicas');
    expect(scaler).toMatchObject({ time: '2030-01-01T00:00:01Z', fieldsV1: { 'f:spec': { 'f:replicas': {} } } });
  });

  it('writes through the status subresource the status alone', async () => {
    const { apply } = world();
    await apply('one', spec([container('a')], { replicas: 1 }));
    const written = await apply('two', { spec: { replicas: 9 }, status: { replicas: 4 } }, false, 'status');
    expect([written.spec.replicas, written.status?.replicas]).toEqual([1, 4]);
    expect(owners(written)).toContainEqual(['two', 'Apply', 'status']);
  });

  it('is refused without a manager, with managed fields, and for another kind', async () => {
    const { client, apply } = world();
    const body = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: KEY };
    await expect(client.patch(DEPLOYMENTS, KEY, { type: 'apply', body })).rejects.toMatchObject({
      message: 'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
    });
    await expect(apply('one', { metadata: { ...KEY, managedFields: [{}] } })).rejects.toMatchObject({
      code: 'KUBE_BAD_REQUEST',
    });
    await expect(apply('one', { kind: 'Pod' })).rejects.toMatchObject({ code: 'KUBE_BAD_REQUEST' });
  });
});

describe('sets of fields', () => {
  const sets = fc.jsonValue({ maxDepth: 4 }).map((value) => fieldsOf({ root: value }, undefined));

  it('read back from their wire form as they were', () => {
    fc.assert(fc.property(sets, (set) => sameSet(fromFieldsV1(JSON.parse(JSON.stringify(toFieldsV1(set)))), set)));
  });

  it('obey the laws of sets', () => {
    fc.assert(
      fc.property(sets, sets, (a, b) => {
        expect(sameSet(union(minus(a, b), intersection(a, b)), a)).toBe(true);
        expect(isEmpty(intersection(minus(a, b), b))).toBe(true);
        expect(sameSet(union(a, b), union(b, a))).toBe(true);
      }),
    );
  });
});
