import { describe, expect, it } from 'vitest';
import type { Schema } from '../schema.ts';
import { builtInSchema } from './built-in-schema.ts';
import { DESCRIPTIONS } from './descriptions.ts';
import { kindType, TABLES, typeOf, typesOf } from './types.ts';

const at = (apiVersion: string, kind: string, ...path: string[]): Schema | undefined =>
  path.reduce<Schema | undefined>(
    (schema, name) => (name === '[]' ? schema?.items : schema?.properties?.[name]),
    builtInSchema(apiVersion, kind),
  );

describe('the schemas of built-in kinds', () => {
  it('say how lists are merged by strategic merge patch and by server-side apply', () => {
    expect(at('v1', 'Pod', 'spec', 'containers')).toMatchObject({
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      'x-kubernetes-patch-merge-key': 'name',
      'x-kubernetes-patch-strategy': 'merge',
    });
    expect(at('v1', 'Pod', 'spec', 'containers', '[]', 'ports')).toMatchObject({
      'x-kubernetes-list-map-keys': ['containerPort', 'protocol'],
      'x-kubernetes-patch-merge-key': 'containerPort',
    });
    expect(at('v1', 'Pod', 'spec', 'volumes')?.['x-kubernetes-patch-strategy']).toBe('merge,retainKeys');
    expect(at('apps/v1', 'Deployment', 'spec', 'strategy')?.['x-kubernetes-patch-strategy']).toBe('retainKeys');
    expect(at('v1', 'Pod', 'metadata', 'finalizers')).toMatchObject({
      'x-kubernetes-list-type': 'set',
      'x-kubernetes-patch-strategy': 'merge',
    });
    expect(at('v1', 'Node', 'spec', 'taints')?.['x-kubernetes-list-type']).toBe('atomic');
    expect(at('apps/v1', 'Deployment', 'spec', 'selector')?.['x-kubernetes-map-type']).toBe('atomic');
  });

  it('have the fields of types that stand inline in others', () => {
    expect(at('v1', 'Pod', 'spec', 'volumes', '[]', 'emptyDir', 'sizeLimit')).toBeDefined();
    expect(at('v1', 'Pod', 'spec', 'containers', '[]', 'livenessProbe', 'httpGet', 'port')).toMatchObject({
      'x-kubernetes-int-or-string': true,
    });
    expect(at('v1', 'Pod', 'spec', 'volumes', '[]', 'volumeSource')).toBeUndefined();
  });

  it('may contain themselves', () => {
    const schema = at(
      'apiextensions.k8s.io/v1',
      'CustomResourceDefinition',
      'spec',
      'versions',
      '[]',
      'schema',
      'openAPIV3Schema',
    );
    expect(schema?.properties?.not?.properties?.not?.properties?.type).toEqual({ type: 'string' });
  });

  it('are there for kinds only, and only in their own group version', () => {
    expect(builtInSchema('v1', 'PodSpec')).toBeUndefined();
    expect(builtInSchema('v1', 'Deployment')).toBeUndefined();
    expect(builtInSchema('apps/v2', 'Deployment')).toBeUndefined();
    expect(builtInSchema('policy/v1', 'DeleteOptions')?.properties?.gracePeriodSeconds).toMatchObject({
      type: 'integer',
    });
  });

  it.each([
    [
      'v1',
      'Pod Node Namespace ConfigMap Secret Service ServiceAccount Event PersistentVolume PersistentVolumeClaim Binding',
    ],
    ['v1', 'PodTemplate ReplicationController ResourceQuota LimitRange Endpoints ComponentStatus'],
    ['apps/v1', 'Deployment ReplicaSet StatefulSet DaemonSet ControllerRevision'],
    ['batch/v1', 'Job CronJob'],
    ['policy/v1', 'PodDisruptionBudget Eviction'],
    ['autoscaling/v1', 'Scale HorizontalPodAutoscaler'],
    ['storage.k8s.io/v1', 'StorageClass CSINode CSIDriver VolumeAttachment CSIStorageCapacity'],
    ['scheduling.k8s.io/v1', 'PriorityClass'],
    ['coordination.k8s.io/v1', 'Lease'],
    ['events.k8s.io/v1', 'Event'],
    ['rbac.authorization.k8s.io/v1', 'Role RoleBinding ClusterRole ClusterRoleBinding'],
    ['authentication.k8s.io/v1', 'TokenReview TokenRequest SelfSubjectReview'],
    [
      'authorization.k8s.io/v1',
      'SubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview LocalSubjectAccessReview',
    ],
    ['apiextensions.k8s.io/v1', 'CustomResourceDefinition'],
    ['networking.k8s.io/v1', 'Ingress IngressClass NetworkPolicy'],
    ['discovery.k8s.io/v1', 'EndpointSlice'],
    ['node.k8s.io/v1', 'RuntimeClass'],
    ['resource.k8s.io/v1', 'ResourceClaim ResourceClaimTemplate ResourceSlice DeviceClass'],
  ])('know what clients write in %s: %s', (apiVersion, kinds) => {
    expect(kinds.split(' ').filter((kind) => kindType(apiVersion, kind) === undefined)).toEqual([]);
  });
});

describe('the type tables', () => {
  it('refer only to types there are, and number the fields of a type differently', () => {
    const scalars = /^[a-z]\w*$/;
    const problems = TABLES.flatMap((table) =>
      [...typesOf(table).values()].flatMap((type) => {
        const missing = type.fields.filter((field) => !scalars.test(field.type) && typeOf(field.type) === undefined);
        const numbers = new Set(type.fields.map((field) => field.number));
        return numbers.size === type.fields.length && missing.length === 0 ? [] : [type.id];
      }),
    );
    expect(problems).toEqual([]);
  });
});

describe('the descriptions', () => {
  it('speak of types and fields there are', () => {
    const strangers = Object.keys(DESCRIPTIONS).filter((id) => {
      const [type = '', field] = id.split(/\.(?=[a-zA-Z]+$)/);
      const facts = typeOf(type);
      return facts === undefined || (field !== undefined && !facts.fields.some(({ name }) => name === field));
    });
    expect(strangers).toEqual([]);
    expect(builtInSchema('v1', 'Pod')?.properties?.spec?.description).toBe('What shall run, and where it may.');
  });
});
