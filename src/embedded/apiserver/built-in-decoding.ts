/**
 * Reads an object of a built-in kind as a typed server does: fields that the type does not have are dropped and told,
 * nulls are as good as absent, quantities get their canonical form, and a value of the wrong type is refused. Parts that
 * are frozen came out of the store and have been read before.
 */
import { formatQuantity, parseQuantity } from '../../apis/kubernetes/quantity.ts';
import type { Draft, Kind } from './kinds/kind.ts';
import { isFields, setField } from './patch/merge-patch.ts';
import type { Schema } from './schema/schema.ts';
import { badRequest } from './status-errors.ts';

export interface Decoded {
  readonly object: Draft;
  /** `spec.foo`, `spec.containers[0].bar`. */
  readonly unknown: readonly string[];
}

export function decodeBuiltIn(kind: Kind, object: Draft): Decoded {
  const schema = kind.shape();
  if (schema === undefined) return { object, unknown: [] };
  const decoder = new Decoder(kind);
  return { object: decoder.fields(object, schema) as Draft, unknown: decoder.unknown };
}

class Decoder {
  readonly unknown: string[] = [];
  readonly #kind: Kind;
  readonly #path: (string | number)[] = [];

  constructor(kind: Kind) {
    this.#kind = kind;
  }

  /** An object whose schema is known to be one. */
  fields(value: Readonly<Record<string, unknown>>, schema: Schema): unknown {
    if (Object.isFrozen(value)) return value;
    const { properties, additionalProperties } = schema;
    if (properties === undefined && additionalProperties === undefined) return value;
    const result: Record<string, unknown> = {};
    for (const name of Object.keys(value)) {
      const field = value[name];
      if (field === null || field === undefined) continue;
      const inner = properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined;
      const known = inner ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined);
      this.#path.push(name);
      if (known === undefined) this.unknown.push(pathText(this.#path));
      else setField(result, name, this.#value(field, known, schema));
      this.#path.pop();
    }
    return result;
  }

  #value(value: unknown, schema: Schema, parent: Schema): unknown {
    if (schema.oneOf !== undefined) return this.#either(value, schema, parent);
    switch (schema.type) {
      case 'object':
        if (!isFields(value)) throw this.#mismatch(value, schema, parent);
        return this.fields(value, schema);
      case 'array':
        if (!Array.isArray(value)) throw this.#mismatch(value, schema, parent);
        return Object.isFrozen(value) ? value : this.#items(value, schema);
      case 'string':
        if (typeof value !== 'string') throw this.#mismatch(value, schema, parent);
        return value;
      case 'boolean':
        if (typeof value !== 'boolean') throw this.#mismatch(value, schema, parent);
        return value;
      case 'integer':
        if (!Number.isSafeInteger(value)) throw this.#mismatch(value, schema, parent);
        return value;
      case 'number':
        if (typeof value !== 'number') throw this.#mismatch(value, schema, parent);
        return value;
      default:
        return value;
    }
  }

  #items(list: readonly unknown[], schema: Schema): unknown[] {
    const { items } = schema;
    if (items === undefined) return [...list];
    return list.map((item, index) => {
      this.#path.push(index);
      const read = item === null ? null : this.#value(item, items, schema);
      this.#path.pop();
      return read;
    });
  }

  /** Quantities and int-or-strings are text or number. */
  #either(value: unknown, schema: Schema, parent: Schema): unknown {
    if (typeof value !== 'string' && typeof value !== 'number') throw this.#mismatch(value, schema, parent);
    return schema['x-kubernetes-int-or-string'] === true ? value : this.#quantity(value);
  }

  #quantity(value: string | number): string {
    const known = quantities.get(value);
    if (known !== undefined) return known;
    let canonical: string;
    try {
      canonical = formatQuantity(parseQuantity(value));
    } catch {
      throw this.#refusal(
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
      );
    }
    if (quantities.size > MOST_QUANTITIES) quantities.clear();
    quantities.set(value, canonical);
    return canonical;
  }

  #mismatch(value: unknown, schema: Schema, parent: Schema): Error {
    const type = parent.typeName?.split('.').at(-1) ?? this.#kind.kind;
    const names = this.#path.filter((part) => typeof part === 'string').join('.');
    const goType = schema.typeName?.split('.').slice(-2).join('.') ?? goTypeOf(schema);
    return this.#refusal(
      `json: cannot unmarshal ${jsonTypeOf(value)} into Go struct field ${type}.${names} of type ${goType}`,
    );
  }

  #refusal(problem: string): Error {
    const { kind, version } = this.#kind;
    return badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${problem}`);
  }
}

/** Quantities repeat: a cluster has few different ones. */
const quantities = new Map<string | number, string>();
const MOST_QUANTITIES = 10_000;

export function pathText(path: readonly (string | number)[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? part : `${text}.${part}`;
  }, '');
}

function jsonTypeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number') return Number.isInteger(value) ? 'number' : `number ${value}`;
  return typeof value;
}

function goTypeOf(schema: Schema): string {
  switch (schema.type) {
    case 'integer':
      return schema.format ?? 'int32';
    case 'boolean':
      return 'bool';
    case 'number':
      return 'float64';
    case 'array':
      return `[]${schema.items === undefined ? 'interface {}' : (schema.items.typeName?.split('.').slice(-2).join('.') ?? goTypeOf(schema.items))}`;
    case 'object':
      return 'map[string]string';
    default:
      return 'string';
  }
}
