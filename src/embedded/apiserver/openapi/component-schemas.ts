/** Schemas as OpenAPI components: built-in types by reference, each once; custom resources as written. */
import { builtInType, builtInTypeNamed } from '../schema/builtin/built-in-schema.ts';
import type { Schema } from '../schema/schema.ts';

export type OpenApiObject = Record<string, unknown>;

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** The components of one document. A referenced type is added with everything it refers to. */
export class ComponentSchemas {
  readonly schemas: Record<string, OpenApiObject> = {};

  /** Adds a kind and returns a reference to it. */
  addKind(gvk: GroupVersionKind, schema: Schema | undefined): OpenApiObject {
    const name = schema?.typeName ?? customTypeName(gvk);
    if (schema?.typeName === undefined) this.schemas[name] = this.#customResource(schema);
    else this.#add(schema);
    this.schemas[name] = { ...this.schemas[name], 'x-kubernetes-group-version-kind': [{ ...gvk }] };
    return reference(name);
  }

  #customResource(schema: Schema | undefined): OpenApiObject {
    const { properties = {}, ...rest } = schema ?? { 'x-kubernetes-preserve-unknown-fields': true };
    return {
      type: 'object',
      ...this.#convert(rest),
      properties: {
        apiVersion: { type: 'string', description: 'The group and version this object is written in.' },
        kind: { type: 'string', description: 'The kind of this object.' },
        metadata: this.#convert(builtInType('meta-v1/ObjectMeta')),
        ...this.#convertAll(properties, new Set(['apiVersion', 'kind', 'metadata'])),
      },
    };
  }

  #convertAll(schemas: Readonly<Record<string, Schema>>, except: ReadonlySet<string> = new Set()): OpenApiObject {
    return Object.fromEntries(
      Object.entries(schemas)
        .filter(([name]) => !except.has(name))
        .map(([name, schema]) => [name, this.#convert(schema)]),
    );
  }

  #convert(schema: Schema): OpenApiObject {
    const { typeName } = schema;
    if (typeName === undefined) return this.#body(schema);
    this.#add(schema);
    // A field's description and patch strategy are written next to the reference.
    const extras = Object.entries(schema).filter(
      ([key]) => key === 'description' || key.startsWith('x-kubernetes-patch'),
    );
    return extras.length === 0 ? reference(typeName) : { allOf: [reference(typeName)], ...Object.fromEntries(extras) };
  }

  #add(schema: Schema): void {
    const name = schema.typeName as string;
    if (Object.hasOwn(this.schemas, name)) return;
    // Added before its body is built, so that recursive types terminate.
    this.schemas[name] = {};
    // Without the additions of the field through which the type was reached.
    this.schemas[name] = this.#body(builtInTypeNamed(name) ?? schema);
  }

  #body(schema: Schema): OpenApiObject {
    const {
      typeName: _,
      properties,
      items,
      additionalProperties,
      allOf,
      anyOf,
      oneOf,
      not,
      required,
      ...rest
    } = schema;
    return {
      ...rest,
      ...(properties === undefined ? {} : { properties: this.#convertAll(properties) }),
      ...(items === undefined ? {} : { items: this.#convert(items) }),
      ...(typeof additionalProperties === 'object'
        ? { additionalProperties: this.#convert(additionalProperties) }
        : additionalProperties === undefined
          ? {}
          : { additionalProperties }),
      ...(required === undefined || required.length === 0 ? {} : { required }),
      ...(not === undefined ? {} : { not: this.#convert(not) }),
      ...this.#alternatives({ allOf, anyOf, oneOf }),
    };
  }

  #alternatives(lists: Readonly<Record<string, readonly Schema[] | undefined>>): OpenApiObject {
    return Object.fromEntries(
      Object.entries(lists).flatMap(([name, schemas]) =>
        schemas === undefined ? [] : [[name, schemas.map((schema) => this.#convert(schema))]],
      ),
    );
  }
}

function reference(name: string): OpenApiObject {
  return { $ref: `#/components/schemas/${name}` };
}

/** `sh.karpenter.v1.NodePool`: the group in reverse order. */
function customTypeName({ group, version, kind }: GroupVersionKind): string {
  return [...group.split('.').reverse(), version, kind].join('.');
}
