import { apiVersionOf, type KubeObject, resource } from '../../../apis/kubernetes/object.ts';
import type { ScaleSubresource } from '../crd/custom-resource-definition.ts';
import { builtInSchema } from '../schema/builtin/built-in-schema.ts';
import { ObjectSchema } from '../schema/object-schema.ts';
import { AGE, type Column, NAME } from './columns/column.ts';
import type { Kind, KindRules, Subresource } from './kind.ts';

/** Properties of a built-in kind besides its names; each has a default. */
export interface BuiltInOptions {
  readonly singular?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly collection?: string;
  readonly storedVersion?: string;
  readonly stored?: boolean;
  readonly status?: boolean;
  readonly generation?: boolean;
  readonly scale?: ScaleSubresource;
  readonly subresources?: readonly Subresource[];
  /** Columns after the name; only the age if absent. */
  readonly columns?: readonly Column[];
  readonly selectableFields?: Readonly<Record<string, (object: never) => string | undefined>>;
  readonly rules?: KindRules;
}

/** Describes a kind that every cluster has. */
export function builtIn(
  apiVersion: string,
  kind: string,
  plural: string,
  scope: 'namespaced' | 'cluster',
  options: BuiltInOptions = {},
): Kind {
  const names = resource(apiVersion, kind, plural, scope);
  const own = options.columns ?? [AGE];
  // Adds the Name column, unless the kind has its own.
  const columns = own.some(({ definition }) => definition.name === NAME.definition.name) ? own : [NAME, ...own];
  const fields = Object.entries(options.selectableFields ?? {});
  return {
    ...names,
    apiVersion: apiVersionOf(names),
    listKind: `${kind}List`,
    singular: options.singular ?? kind.toLowerCase(),
    shortNames: options.shortNames ?? [],
    categories: options.categories ?? [],
    collection: options.collection ?? (names.group === '' ? plural : `${plural}.${names.group}`),
    storedVersion: options.storedVersion ?? apiVersion,
    builtIn: true,
    stored: options.stored ?? true,
    hasStatus: options.status ?? false,
    hasGeneration: options.generation ?? false,
    ...(options.scale === undefined ? {} : { scale: options.scale }),
    subresources: options.subresources ?? [],
    schema: once(() => {
      const schema = builtInSchema(apiVersion, kind);
      return schema === undefined ? undefined : new ObjectSchema(schema, 'built-in');
    }),
    columns: columns.map((column) => column.definition),
    cells: (object, now) => columns.map((column) => column.cell(object, now)),
    selectableFieldNames: fields.map(([name]) => name),
    selectableFields: (object: KubeObject) =>
      Object.fromEntries(fields.map(([name, read]) => [name, read(object as never) ?? ''])),
    rules: options.rules ?? {},
  };
}

/** Builds a schema on first use, since no process needs all of them. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
