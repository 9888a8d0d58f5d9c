/** Drops fields that a schema does not know, as the API server does before it stores an object. */
import { builtInType } from './builtin/built-in-schema.ts';
import { isList, isObject, mapFields, mapItems, TYPE_FIELDS } from './json-object.ts';
import type { Json, JsonObject, Schema } from './schema.ts';

/** A pruned object, and the paths of the removed fields. */
export interface Pruned {
  /** The given object if nothing was removed; otherwise a copy that shares unchanged parts. */
  readonly object: JsonObject;
  /** `spec.foo`, `spec.list[0].bar`: strict field validation reports these as `unknown field "spec.foo"`. */
  readonly unknown: readonly string[];
  /**
   * Why the object is unreadable, regardless of the field validation mode; built-in kinds only: `json: cannot unmarshal
   * string into Go struct field DeploymentSpec.spec.replicas of type int32`.
   */
  readonly problem?: string;
}

/** Prunes a custom resource, which has apiVersion, kind and metadata even if its schema does not list them. */
export function prune(object: JsonObject, schema: Schema): Pruned {
  return pruneValue(object, { ...schema, 'x-kubernetes-embedded-resource': true });
}

/** Prunes a part of a resource. */
export function pruneValue(object: JsonObject, schema: Schema): Pruned {
  const walk = new Walk();
  const pruned = walk.value(object, schema) as JsonObject;
  return { object: pruned, unknown: walk.unknown.sort() };
}

class Walk {
  readonly unknown: string[] = [];
  readonly #path: (string | number)[] = [];

  /** Without a schema, no field is known. */
  value(value: Json, schema: Schema | undefined): Json {
    if (isList(value)) return this.#list(value, schema);
    if (isObject(value)) return this.#object(value, schema);
    return value;
  }

  #list(list: readonly Json[], schema: Schema | undefined): Json {
    const items = schema?.items;
    if (items === undefined && schema?.['x-kubernetes-preserve-unknown-fields'] === true) return list;
    return mapItems(list, (item, index) => {
      this.#path.push(index);
      const pruned = this.value(item, items);
      this.#path.pop();
      return pruned;
    });
  }

  #object(object: JsonObject, schema: Schema | undefined): JsonObject {
    return mapFields(object, (value, key) => {
      this.#path.push(key);
      const pruned = this.#field(key, value, schema);
      this.#path.pop();
      return pruned;
    });
  }

  /** The pruned value of a field; undefined if it is removed. */
  #field(key: string, value: Json, schema: Schema | undefined): Json | undefined {
    if (schema?.['x-kubernetes-embedded-resource'] === true && TYPE_FIELDS.has(key)) {
      return key === 'metadata' ? this.value(value, builtInType('meta-v1/ObjectMeta')) : value;
    }
    const { properties, additionalProperties } = schema ?? {};
    if (properties !== undefined && Object.hasOwn(properties, key)) return this.value(value, properties[key]);
    if (typeof additionalProperties === 'object') return this.value(value, additionalProperties);
    // `true` allows any name, but does not describe the values.
    if (additionalProperties === true) return this.value(value, undefined);
    if (schema?.['x-kubernetes-preserve-unknown-fields'] === true) return value;
    this.unknown.push(pathText(this.#path));
    return undefined;
  }
}

/** `spec.list[0].name`. */
export function pathText(path: readonly (string | number)[]): string {
  let text = '';
  for (const step of path) text += typeof step === 'number' ? `[${step}]` : text === '' ? step : `.${step}`;
  return text;
}
