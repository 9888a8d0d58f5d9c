import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { FieldError } from '../schema/field-error.ts';
import type { CustomResourceDefinition } from './custom-resource-definition.ts';
import { defaultDefinition, validateDefinition } from './definition-rules.ts';

interface Row {
  readonly name: string;
  readonly definition: CustomResourceDefinition;
  /** Every cause the API server gave; absent for an accepted definition. */
  readonly causes?: readonly FieldError[];
  /** Refused with a message that cannot be compared: it prints server memory, or is about the estimated cost of CEL rules. */
  readonly rejected?: true;
}

/** Recorded on a real kube-apiserver. */
const recorded = JSON.parse(readFileSync(new URL('testdata/definitions.json', import.meta.url), 'utf8')) as {
  readonly rows: readonly Row[];
};

const inOrder = (errors: readonly FieldError[]): string[] =>
  [...new Set(errors.map((error) => `${error.field} ${error.reason}: ${error.message}`))].sort();

describe('a definition', () => {
  it.each(recorded.rows.map((row) => [row.name, row] as const))(
    'meets what kube-apiserver said of it: %s',
    (_, row) => {
      const errors = validateDefinition(defaultDefinition(row.definition));
      if (row.rejected === true) expect(errors).not.toEqual([]);
      else expect(inOrder(errors)).toEqual(inOrder(row.causes ?? []));
    },
  );

  const definition = defaultDefinition(recorded.rows[0]?.definition as CustomResourceDefinition);

  it('gets the names it leaves out', () => {
    expect(definition.spec.names).toEqual({
      plural: 'widgets',
      kind: 'Widget',
      singular: 'widget',
      listKind: 'WidgetList',
    });
    expect(definition.spec.conversion).toEqual({ strategy: 'None' });
    expect(definition.status?.storedVersions).toEqual(['v1']);
  });

  it('may not change its group, plural, and once established its kind and scope', () => {
    const established: CustomResourceDefinition = {
      ...definition,
      status: { ...definition.status, conditions: [{ type: 'Established', status: 'True' }] },
    };
    const changed: CustomResourceDefinition = {
      ...established,
      spec: { ...definition.spec, scope: 'Cluster', names: { ...definition.spec.names, kind: 'Other' } },
    };
    const fields = (old: CustomResourceDefinition): string[] =>
      validateDefinition(changed, old).map((error) => error.field);
    expect(fields(established)).toEqual(['spec.scope', 'spec.names.kind']);
    expect(fields(definition)).toEqual([]);
  });

  it('keeps every version that objects may still be stored in', () => {
    const renamed = {
      ...definition,
      spec: { ...definition.spec, versions: definition.spec.versions.map((version) => ({ ...version, name: 'v2' })) },
      status: { storedVersions: ['v1', 'v2'] },
    };
    expect(validateDefinition(renamed, definition).map((error) => error.field)).toEqual(['status.storedVersions[0]']);
  });

  it('is refused, not stumbled over, when it says nothing', () => {
    const empty = { ...definition, spec: {} } as unknown as CustomResourceDefinition;
    const { status: _, ...bare } = empty;
    const fields = validateDefinition(defaultDefinition(bare)).map((error) => error.field);
    expect(fields).toEqual(
      expect.arrayContaining(['spec.group', 'spec.scope', 'spec.names.plural', 'spec.names.kind']),
    );
  });
});
