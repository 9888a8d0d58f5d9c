/** Schemas of the built-in kinds, built from the type tables. A schema may contain itself (JSONSchemaProps does). */
import type { Schema } from '../schema.ts';
import { DESCRIPTIONS } from './descriptions.ts';
import type { FieldFacts, TypeFacts } from './type-table.ts';
import { kindType, openApiName, typeOf } from './types.ts';

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const QUANTITY: Schema = {
  typeName: 'io.k8s.apimachinery.pkg.api.resource.Quantity',
  oneOf: [{ type: 'string' }, { type: 'number' }],
};
const ANYTHING: Schema = { 'x-kubernetes-preserve-unknown-fields': true };

const SCALARS: Readonly<Record<string, Schema>> = {
  string: { type: 'string' },
  bool: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  double: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' },
  quantity: QUANTITY,
  intOrString: {
    typeName: 'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
    format: 'int-or-string',
    'x-kubernetes-int-or-string': true,
    oneOf: [{ type: 'integer' }, { type: 'string' }],
  },
  time: { typeName: `${META}.Time`, type: 'string', format: 'date-time' },
  microTime: { typeName: `${META}.MicroTime`, type: 'string', format: 'date-time' },
  fieldsV1: { typeName: `${META}.FieldsV1`, type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  rawExtension: {
    typeName: 'io.k8s.apimachinery.pkg.runtime.RawExtension',
    type: 'object',
    'x-kubernetes-preserve-unknown-fields': true,
  },
  json: ANYTHING,
  schemaOrArray: ANYTHING,
  schemaOrBool: ANYTHING,
  schemaOrStrings: ANYTHING,
};

const kinds = new Map<string, Schema | undefined>();
const types = new Map<string, Schema>();
const named = new Map(
  Object.values(SCALARS).flatMap((schema) => (schema.typeName ? [[schema.typeName, schema] as const] : [])),
);

/** The schema of a built-in kind, `builtInSchema('apps/v1', 'Deployment')`; undefined for a kind that has none. */
export function builtInSchema(apiVersion: string, kind: string): Schema | undefined {
  const key = `${apiVersion}/${kind}`;
  if (!kinds.has(key)) {
    const type = kindType(apiVersion, kind);
    kinds.set(key, type === undefined ? undefined : typeSchema(type));
  }
  return kinds.get(key);
}

/** The schema of any type in the tables by its id: `builtInType('meta-v1/ObjectMeta')`. */
export function builtInType(id: string): Schema {
  const scalar = SCALARS[id];
  if (scalar !== undefined) return scalar;
  const type = typeOf(id);
  return type === undefined ? ANYTHING : typeSchema(type);
}

/** The schema of a type by its OpenAPI name, without additions by fields of that type. */
export function builtInTypeNamed(typeName: string): Schema | undefined {
  return named.get(typeName);
}

function typeSchema(type: TypeFacts): Schema {
  const known = types.get(type.id);
  if (known !== undefined) return known;
  if (type.wrapsList) return { type: 'array', items: builtInType(type.fields[0]?.type ?? 'json') };
  const properties: Record<string, Schema> = {};
  const required: string[] = [];
  // Registered before its fields are built, so that recursive types terminate.
  const schema: Schema = {
    typeName: openApiName(type.id),
    type: 'object',
    ...describe(type.id),
    properties,
    required,
    ...(type.atomic ? { 'x-kubernetes-map-type': 'atomic' as const } : {}),
  };
  types.set(type.id, schema);
  named.set(openApiName(type.id), schema);
  if (type.typed) {
    properties.apiVersion = { type: 'string', description: 'The group and version this object is written in.' };
    properties.kind = { type: 'string', description: 'The kind of this object.' };
  }
  addFields(type, properties, required);
  return schema;
}

function addFields(type: TypeFacts, properties: Record<string, Schema>, required: string[]): void {
  for (const field of type.fields) {
    if (field.name === '') {
      const inline = typeOf(field.type);
      if (inline !== undefined) addFields(inline, properties, required);
      continue;
    }
    properties[field.name] = fieldSchema(field, `${type.id}.${field.name}`);
    if (field.required) required.push(field.name);
  }
}

function fieldSchema(field: FieldFacts, id: string): Schema {
  const type = builtInType(field.type);
  const extras = { ...describe(id), ...merging(field) };
  if (field.form === 'list') return { type: 'array', items: type, ...extras };
  if (field.form === 'map') return { type: 'object', additionalProperties: type, ...extras };
  return Object.keys(extras).length === 0 ? type : { ...type, ...extras };
}

function describe(id: string): Pick<Schema, 'description'> {
  const description = DESCRIPTIONS[id];
  return description === undefined ? {} : { description };
}

function merging(field: FieldFacts): Partial<Schema> {
  const extensions: Record<string, unknown> = {};
  const strategies: string[] = [];
  for (const word of field.merging) {
    const [name, value] = word.split('=');
    if (name === 'map') {
      extensions['x-kubernetes-list-type'] = 'map';
      extensions['x-kubernetes-list-map-keys'] = value?.split(',');
    } else if (name === 'set') extensions['x-kubernetes-list-type'] = 'set';
    else if (name === 'atomic') extensions[`x-kubernetes-${field.form === 'list' ? 'list' : 'map'}-type`] = 'atomic';
    else {
      strategies.push(name as string);
      if (value !== undefined) extensions['x-kubernetes-patch-merge-key'] = value;
    }
  }
  if (strategies.length > 0) extensions['x-kubernetes-patch-strategy'] = strategies.join(',');
  return extensions;
}
