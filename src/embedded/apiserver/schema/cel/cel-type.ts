/** CEL types of schemas: the declared type, and the conversion from JSON to its values. */
import type { Environment } from '@marcbachmann/cel-js';
import { isList, isObject } from '../json-object.ts';
import type { Json, Schema } from '../schema.ts';
import { celEqual, unordered } from './cel-equality.ts';
import { kubernetesEnvironment } from './library/kubernetes-library.ts';
import { celName } from './property-names.ts';

export interface CelType {
  /** The type as declarations spell it: `int`, `list<string>`, `map<string, Object7>`. */
  readonly name: string;
  convert(value: Json): unknown;
}

const DYNAMIC: CelType = { name: 'dyn', convert: convertAnything };
const META: Schema = { type: 'object', properties: { name: { type: 'string' }, generateName: { type: 'string' } } };
const TYPE_AND_META: Readonly<Record<string, Schema>> = {
  apiVersion: { type: 'string' },
  kind: { type: 'string' },
  metadata: META,
};

/** Declares the types of schemas in one environment; each schema once. */
export class CelTypes {
  readonly #env: Environment;
  readonly #known = new Map<Schema, CelType | undefined>();
  readonly #compared = new Set<string>();
  readonly #timestamp: (value: Json) => unknown;
  readonly #duration: (value: Json) => unknown;
  #count = 0;

  constructor(env: Environment) {
    this.#env = env;
    // Uses a separate environment: one that others were derived from can declare no more types.
    const texts = kubernetesEnvironment().registerVariable('text', 'string');
    const timestamp = texts.parse('timestamp(text)');
    const duration = texts.parse('duration(text)');
    this.#timestamp = orAsIs((value) =>
      timestamp({ text: String(value).length === 10 ? `${value}T00:00:00Z` : value }),
    );
    this.#duration = orAsIs((value) => duration({ text: value }));
  }

  /** Undefined if rules cannot see the value because its schema does not describe it. */
  typeOf(schema: Schema, isRoot: boolean = schema['x-kubernetes-embedded-resource'] === true): CelType | undefined {
    if (!this.#known.has(schema)) this.#known.set(schema, this.#declare(schema, isRoot));
    return this.#known.get(schema);
  }

  #declare(schema: Schema, isRoot: boolean): CelType | undefined {
    if (schema['x-kubernetes-int-or-string'] === true) return DYNAMIC;
    switch (schema.type) {
      case 'array':
        return this.#list(schema);
      case 'object':
        return typeof schema.additionalProperties === 'object'
          ? this.#map(schema.additionalProperties)
          : this.#object(schema, isRoot);
      case 'string':
        return this.#string(schema.format);
      case 'integer':
        return { name: 'int', convert: (value) => (Number.isInteger(value) ? BigInt(value as number) : value) };
      case 'number':
        return { name: 'double', convert: (value) => value };
      case 'boolean':
        return { name: 'bool', convert: (value) => value };
      default:
        return undefined;
    }
  }

  #string(format: string | undefined): CelType {
    if (format === 'byte')
      return { name: 'bytes', convert: (value) => new Uint8Array(Buffer.from(String(value), 'base64')) };
    if (format === 'duration') return { name: 'google.protobuf.Duration', convert: this.#duration };
    if (format === 'date' || format === 'date-time') {
      return { name: 'google.protobuf.Timestamp', convert: this.#timestamp };
    }
    return { name: 'string', convert: (value) => value };
  }

  #list(schema: Schema): CelType | undefined {
    const items = schema.items === undefined ? undefined : this.#field(schema.items);
    if (items === undefined) return undefined;
    const listType = schema['x-kubernetes-list-type'];
    const name = `list<${items.name}>`;
    const isUnordered = listType === 'set' || listType === 'map';
    if (isUnordered) this.#compareByContent(name);
    const mark = isUnordered ? unordered : (list: unknown[]) => list;
    return {
      name,
      convert: (value) => (isList(value) ? mark(value.map((item) => items.convert(item))) : value),
    };
  }

  /** Lists of this type may be sets, but the evaluator compares lists item by item. */
  #compareByContent(list: string): void {
    if (this.#compared.has(list)) return;
    this.#compared.add(list);
    this.#env.registerOperator(`${list} == ${list}`, celEqual);
  }

  #map(values: Schema): CelType | undefined {
    const type = this.#field(values);
    if (type === undefined) return undefined;
    return {
      name: `map<string, ${type.name}>`,
      convert: (value) =>
        isObject(value) ? new Map(Object.keys(value).map((key) => [key, type.convert(value[key] as Json)])) : value,
    };
  }

  /** A nullable field has type `dyn`, because null has a type of its own. */
  #field(schema: Schema): CelType | undefined {
    const type = this.typeOf(schema);
    if (type === undefined || schema.nullable !== true) return type;
    return { name: 'dyn', convert: (value) => (value === null ? null : type.convert(value)) };
  }

  #object(schema: Schema, isRoot: boolean): CelType {
    const properties = isRoot ? { ...schema.properties, ...TYPE_AND_META } : (schema.properties ?? {});
    const fields: Record<string, string> = {};
    const converters: [property: string, field: string, type: CelType][] = [];
    for (const [property, propertySchema] of Object.entries(properties)) {
      const field = celName(property);
      const type = field === undefined ? undefined : this.#field(propertySchema);
      // `constructor` would hide the property by which the evaluator recognizes types.
      if (field === undefined || type === undefined || field === 'constructor') continue;
      fields[field] = type.name;
      converters.push([property, field, type]);
    }
    class ObjectValue {}
    const name = `Object${++this.#count}`;
    this.#env
      .registerType(name, { ctor: ObjectValue, fields })
      .registerOperator(`${name} == ${name}`, celEqual)
      .registerOperator(`${name} == null`, celEqual);
    return {
      name,
      convert: (value) => {
        if (!isObject(value)) return value;
        const object: Record<string, unknown> = new ObjectValue() as Record<string, unknown>;
        for (const [property, field, type] of converters) {
          if (Object.hasOwn(value, property)) object[field] = type.convert(value[property] as Json);
        }
        return object;
      },
    };
  }
}

/** Keeps a value that its format does not allow as it is; only rules that use it fail. */
function orAsIs(convert: (value: Json) => unknown): (value: Json) => unknown {
  return (value) => {
    try {
      return convert(value);
    } catch {
      return value;
    }
  };
}

/** For int-or-string: converts whole numbers to integers. */
function convertAnything(value: Json): unknown {
  return typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : value;
}
