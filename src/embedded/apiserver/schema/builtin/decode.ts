/**
 * Decodes objects of built-in kinds as Go would: unknown fields and nulls are dropped, quantities get their canonical
 * form, and a value of the wrong type makes the whole object unreadable.
 */
import { formatQuantity, parseQuantity } from '../../../../apis/kubernetes/quantity.ts';
import { parseTimestamp } from '../../../../platform/clock.ts';
import { isList, isObject, mapFields, mapItems } from '../json-object.ts';
import { type Pruned, pathText } from '../prune.ts';
import type { Json, JsonObject, Schema } from '../schema.ts';

/** Decodes an object of a kind; `problem` says why it is unreadable. */
export function decodeBuiltIn(object: JsonObject, schema: Schema): Pruned {
  const walk = new Walk();
  try {
    const decoded = walk.struct(object, schema) as JsonObject;
    return { object: decoded, unknown: walk.unknown };
  } catch (error) {
    if (error instanceof Undecodable) return { object, unknown: walk.unknown, problem: error.message };
    throw error;
  }
}

/** Ends the walk at the first value of a wrong type, as Go's decoder does. */
class Undecodable extends Error {}

const QUANTITY_PROBLEM = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

class Walk {
  readonly unknown: string[] = [];
  readonly #path: (string | number)[] = [];
  /** The path without indices and map keys, as Go's decoder names fields. */
  readonly #names: string[] = [];
  /** The OpenAPI name of the type whose field is being decoded. */
  #owner = '';

  #value(value: Json, schema: Schema): Json {
    if (schema.typeName !== undefined) {
      const special = this.#special(value, schema.typeName);
      if (special !== undefined) return special;
    }
    switch (schema.type) {
      case 'object':
        return this.#object(value, schema);
      case 'array':
        return this.#list(value, schema);
      case 'string':
        if (typeof value !== 'string') throw this.#mismatch(value, schema);
        if (schema.format === 'byte') checkBase64(value);
        return value;
      case 'boolean':
        if (typeof value !== 'boolean') throw this.#mismatch(value, schema);
        return value;
      case 'integer':
        return this.#integer(value, schema);
      case 'number':
        if (typeof value !== 'number') throw this.#mismatch(value, schema);
        return value;
      default:
        return value;
    }
  }

  /** Decodes types with their own JSON form; undefined for all others. */
  #special(value: Json, typeName: string): Json | undefined {
    switch (typeName) {
      case 'io.k8s.apimachinery.pkg.api.resource.Quantity':
        return quantity(value);
      case 'io.k8s.apimachinery.pkg.util.intstr.IntOrString':
        return typeof value === 'string' ? value : this.#integer(value, { type: 'integer', format: 'int32' });
      case 'io.k8s.apimachinery.pkg.apis.meta.v1.Time':
        return time(
          value,
          '2006-01-02T15:04:05Z07:00',
          /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/,
        );
      case 'io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime':
        return time(
          value,
          '2006-01-02T15:04:05.000000Z07:00',
          /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d\.\d{6,9}([Zz]|[+-]\d\d:\d\d)$/,
        );
      default:
        return undefined;
    }
  }

  #integer(value: Json, schema: Schema): Json {
    const limit = schema.format === 'int32' ? 2147483647 : Number.MAX_SAFE_INTEGER * 1024;
    if (typeof value !== 'number' || !Number.isInteger(value) || value > limit || value < -limit - 1) {
      throw this.#mismatch(value, schema);
    }
    return value;
  }

  #list(value: Json, schema: Schema): Json {
    if (!isList(value)) throw this.#mismatch(value, schema);
    const items = schema.items as Schema;
    return mapItems(value, (item, index) => {
      this.#path.push(index);
      const decoded = item === null ? zero(items) : this.#value(item, items);
      this.#path.pop();
      return decoded;
    });
  }

  #object(value: Json, schema: Schema): Json {
    if (!isObject(value)) throw this.#mismatch(value, schema);
    if (schema.properties !== undefined) return this.struct(value, schema);
    const values = schema.additionalProperties;
    if (typeof values !== 'object') return value;
    return this.#fields(value, (entry) => (entry === null ? zero(values) : this.#value(entry, values)));
  }

  /** Decodes an object with the fields of its type. */
  struct(object: JsonObject, schema: Schema): Json {
    const outer = this.#owner;
    const properties = schema.properties ?? {};
    const own = schema.typeName ?? '';
    const decoded = this.#fields(object, (value, key) => {
      if (!Object.hasOwn(properties, key)) {
        this.unknown.push(pathText(this.#path));
        return undefined;
      }
      if (value === null) return undefined;
      this.#owner = own;
      this.#names.push(key);
      const field = this.#value(value, properties[key] as Schema);
      this.#names.pop();
      return field;
    });
    this.#owner = outer;
    return decoded;
  }

  #fields(object: JsonObject, decode: (value: Json, key: string) => Json | undefined): JsonObject {
    return mapFields(object, (value, key) => {
      this.#path.push(key);
      const decoded = decode(value, key);
      this.#path.pop();
      return decoded;
    });
  }

  #mismatch(value: Json, schema: Schema): Undecodable {
    const owner = this.#owner.slice(this.#owner.lastIndexOf('.') + 1);
    const field = `${owner}.${this.#names.join('.')}`;
    const found = jsonType(value, schema.type === 'integer');
    return new Undecodable(`json: cannot unmarshal ${found} into Go struct field ${field} of type ${goType(schema)}`);
  }
}

/** A null in a list or map becomes the zero value of its type. */
function zero(schema: Schema): Json {
  switch (schema.type) {
    case 'string':
      return '';
    case 'integer':
    case 'number':
      return 0;
    case 'boolean':
      return false;
    case 'array':
      return [];
    default:
      return {};
  }
}

const canonical = new Map<string | number, string>();

function quantity(value: Json): Json {
  if (typeof value !== 'string' && typeof value !== 'number') throw new Undecodable(QUANTITY_PROBLEM);
  let text = canonical.get(value);
  if (text === undefined) {
    try {
      text = formatQuantity(parseQuantity(value));
    } catch {
      throw new Undecodable(QUANTITY_PROBLEM);
    }
    // A cluster repeats the same few quantities; the limit keeps unusual ones from filling the cache.
    if (canonical.size >= 5000) canonical.clear();
    canonical.set(value, text);
  }
  return text;
}

function time(value: Json, layout: string, shape: RegExp): Json {
  if (typeof value !== 'string' || !shape.test(value) || parseTimestamp(value) === undefined) {
    throw new Undecodable(
      `parsing time ${JSON.stringify(value)} as "${layout}": cannot parse ${JSON.stringify(value)} as "2006"`,
    );
  }
  return value;
}

function checkBase64(text: string): void {
  const bad = /[^A-Za-z0-9+/=\r\n]/.exec(text);
  const length = text.replace(/[\r\n]/g, '').length;
  if (bad !== null || length % 4 !== 0)
    throw new Undecodable(`illegal base64 data at input byte ${bad?.index ?? length}`);
}

function jsonType(value: Json, wantedInteger: boolean): string {
  if (isList(value)) return 'array';
  if (typeof value === 'number') return wantedInteger ? `number ${value}` : 'number';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

/** `io.k8s.api.core.v1.PodSpec` → `v1.PodSpec`. */
function goName(typeName: string): string {
  return typeName.split('.').slice(-2).join('.');
}

function goType(schema: Schema): string {
  const { type, format, typeName, items, additionalProperties } = schema;
  if (type === 'array') return `[]${goType(items ?? {})}`;
  if (typeof additionalProperties === 'object') return `map[string]${goType(additionalProperties)}`;
  if (typeName !== undefined && type === 'object') return goName(typeName);
  if (type === 'integer') return format ?? 'int64';
  if (type === 'number') return 'float64';
  if (type === 'boolean') return 'bool';
  return format === 'byte' ? '[]uint8' : 'string';
}
