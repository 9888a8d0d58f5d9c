import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../apis/kubernetes/object.ts';
import type { CustomResourceDefinition } from './custom-resource-definition.ts';
import { servedKinds } from './served-kind.ts';

const schema = { openAPIV3Schema: { type: 'object' as const, properties: { spec: { type: 'object' as const } } } };
const version = (name: string, more: object = {}) => ({ name, served: true, storage: false, schema, ...more });

const definition: CustomResourceDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget', shortNames: ['w'] },
    versions: [
      version('v1beta1', { deprecated: true }),
      version('v1', {
        storage: true,
        subresources: {
          status: {},
          scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
        },
        selectableFields: [{ jsonPath: '.spec.colour' }, { jsonPath: '.spec.size' }],
        additionalPrinterColumns: [
          { name: 'Colour', type: 'string', jsonPath: '.spec.colour' },
          { name: 'Size', type: 'integer', jsonPath: '.spec.size', priority: 1 },
          { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
          { name: 'Open', type: 'boolean', jsonPath: '.spec.open' },
          { name: 'Tags', type: 'string', jsonPath: '.spec.tags' },
          { name: 'Seen', type: 'date', jsonPath: '.status.seen' },
        ],
      }),
      version('v2', { served: false }),
    ],
  },
};

const widget = {
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'a', creationTimestamp: '2024-01-01T00:00:00Z' },
  spec: { colour: 'red', size: 3.7, open: true, tags: { b: 1, a: '<' } },
  status: { conditions: [{ type: 'Ready', status: 'True' }], seen: '2024-01-01T00:00:00Z' },
} as KubeObject;
const NOW = 1_704_067_200_000 + 90_000;

describe('the kinds a definition makes', () => {
  const [newest, oldest, ...rest] = servedKinds(definition);

  it('are its served versions, the most mature first', () => {
    expect([newest?.version, oldest?.version, rest]).toEqual(['v1', 'v1beta1', []]);
    expect(newest).toMatchObject({
      kind: 'Widget',
      listKind: 'WidgetList',
      singular: 'widget',
      namespaced: true,
      storage: true,
    });
    expect(oldest?.deprecationWarning).toBe('example.com/v1beta1 Widget is deprecated');
  });

  it('have a status and a scale where the version says so', () => {
    expect([newest?.hasStatus, oldest?.hasStatus]).toEqual([true, false]);
    expect(newest?.scale?.specReplicasPath).toBe('.spec.replicas');
    expect(oldest?.scale).toBeUndefined();
  });

  it('print the columns the version asks for, after the name', () => {
    expect(newest?.columns.map(({ name, priority }) => [name, priority])).toEqual([
      ['Name', 0],
      ['Colour', 0],
      ['Size', 1],
      ['Ready', 0],
      ['Open', 0],
      ['Tags', 0],
      ['Seen', 0],
    ]);
    expect(newest?.cells(widget, NOW)).toEqual(['a', 'red', 3, 'True', true, '{"a":"\\u003c","b":1}', '90s']);
  });

  it('print name and age when the version asks for nothing', () => {
    expect(oldest?.columns.map(({ name }) => name)).toEqual(['Name', 'Age']);
    expect(oldest?.cells(widget, NOW)).toEqual(['a', '90s']);
  });

  it('print nothing where a value is missing or of another type', () => {
    const bare = { ...widget, spec: { size: 'x' }, status: { seen: 5 } } as KubeObject;
    expect(newest?.cells(bare, NOW)).toEqual(['a', null, null, null, null, null, '<invalid>']);
    const empty = { ...widget, spec: { colour: null, size: null }, status: {} } as KubeObject;
    expect(newest?.cells(empty, NOW)).toEqual(['a', '<no value>', null, null, null, null, null]);
  });

  it('are selected by the fields the version names', () => {
    expect(newest?.selectableFieldNames).toEqual(['spec.colour', 'spec.size']);
    expect(newest?.selectableFields({ ...widget, spec: { colour: 'red' } } as KubeObject)).toEqual({
      'spec.colour': 'red',
      'spec.size': '',
    });
  });
});
