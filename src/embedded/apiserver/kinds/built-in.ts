import { apiVersionOf, type KubeObject, resource } from '../../../apis/kubernetes/object.ts';
import type { ScaleSubresource } from '../crd/custom-resource-definition.ts';
import { builtInSchema } from '../schema/builtin/built-in-schema.ts';
import { ObjectSchema } from '../schema/object-schema.ts';
import { AGE, type Column, NAME } from './columns/column.ts';
import type { Kind, KindRules, Subresource } from './kind.ts';

/** What is said of a built-in kind besides its names; the rest has a usual value. */
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
  /** Those after the name; the age alone when absent. */
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
  // A kind that shows its name elsewhere or otherwise says so itself.
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

/** Schemas are made when first needed, since no process needs them all. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
