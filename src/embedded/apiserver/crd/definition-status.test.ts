import { describe, expect, it } from 'vitest';
import type { CustomResourceDefinition, CustomResourceNames } from './custom-resource-definition.ts';
import { definitionStatus } from './definition-status.ts';

const NOW = '2024-01-01T00:00:00Z';
const LATER = '2024-01-02T00:00:00Z';

function definition(names: CustomResourceNames, group = 'example.com'): CustomResourceDefinition {
  const full = { singular: names.kind.toLowerCase(), listKind: `${names.kind}List`, ...names };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${names.plural}.${group}` },
    spec: { group, scope: 'Cluster', names: full, versions: [{ name: 'v1', served: true, storage: true }] },
  };
}

const accept = (
  subject: CustomResourceDefinition,
  others: readonly CustomResourceDefinition[] = [],
): CustomResourceDefinition => ({ ...subject, status: definitionStatus(subject, others, NOW) });

describe('the status of a definition', () => {
  const widgets = accept(definition({ plural: 'widgets', kind: 'Widget', shortNames: ['w'] }));

  it('accepts free names and establishes the kind at once', () => {
    expect(widgets.status).toEqual({
      acceptedNames: {
        plural: 'widgets',
        singular: 'widget',
        kind: 'Widget',
        listKind: 'WidgetList',
        shortNames: ['w'],
      },
      conditions: [
        {
          type: 'NamesAccepted',
          status: 'True',
          reason: 'NoConflicts',
          message: 'no conflicts found',
          lastTransitionTime: NOW,
        },
        {
          type: 'Established',
          status: 'True',
          reason: 'InitialNamesAccepted',
          message: 'the initial names have been accepted',
          lastTransitionTime: NOW,
        },
      ],
      storedVersions: ['v1'],
    });
  });

  it('refuses a name that another definition of the group has', () => {
    const other = accept(definition({ plural: 'wickets', kind: 'Wicket', shortNames: ['w'] }), [widgets]);
    expect(
      other.status?.conditions?.map(({ type, status, reason, message }) => [type, status, reason, message]),
    ).toEqual([
      ['NamesAccepted', 'False', 'ShortNamesConflict', '"w" is already in use'],
      ['Established', 'False', 'NotAccepted', 'not all names are accepted'],
    ]);
    expect(other.status?.acceptedNames).toEqual({
      plural: 'wickets',
      singular: 'wicket',
      kind: 'Wicket',
      listKind: 'WicketList',
    });
    const sameKind = accept(definition({ plural: 'gadgets', kind: 'Widget', singular: 'gadget' }), [widgets]);
    expect(sameKind.status?.conditions?.[0]?.reason).toBe('ListKindConflict');
  });

  it('does not mind the names of other groups', () => {
    const elsewhere = accept(definition({ plural: 'widgets', kind: 'Widget' }, 'other.example'), [widgets]);
    expect(elsewhere.status?.conditions?.[0]?.status).toBe('True');
  });

  it('stays what it is when nothing changes, times included', () => {
    expect(definitionStatus(widgets, [widgets], LATER)).toEqual(widgets.status);
  });

  it('keeps a kind established that was, and remembers every version objects were stored in', () => {
    const versions = [
      { name: 'v2', served: true, storage: true },
      { name: 'v1', served: true, storage: false },
    ];
    const names = { ...widgets.spec.names, shortNames: ['g'] };
    const gadgets = accept(definition({ plural: 'gadgets', kind: 'Gadget', shortNames: ['g'] }));
    const changed = { ...widgets, spec: { ...widgets.spec, names, versions } };
    const status = definitionStatus(changed, [gadgets, widgets], LATER);
    expect(status.conditions?.map(({ status, lastTransitionTime }) => [status, lastTransitionTime])).toEqual([
      ['False', LATER],
      ['True', NOW],
    ]);
    expect(status.storedVersions).toEqual(['v1', 'v2']);
    expect(status.acceptedNames?.shortNames).toEqual(['w']);
  });
});
