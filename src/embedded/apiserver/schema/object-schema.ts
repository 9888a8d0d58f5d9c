import type { FieldError } from './field-error.ts';
import type { Json, JsonObject, Schema } from './schema.ts';

/** An object without the fields its schema does not know, and the paths of those. */
export interface Pruned {
  /** The object that was given when nothing had to go; otherwise a copy that shares what did not change. */
  readonly object: JsonObject;
  /** `spec.foo`, `spec.list[0].bar`: what strict field validation reports as `unknown field "spec.foo"`. */
  readonly unknown: readonly string[];
}

/** What the API server does with objects of one kind and version by their schema. Nothing given is ever changed in place. */
export interface ObjectSchema {
  readonly schema: Schema;
  prune(object: JsonObject): Pruned;
  /** Fills in defaults (and drops nulls that a default stands in for). */
  applyDefaults(object: JsonObject): JsonObject;
  /** Schema, list types and CEL rules; with the old object also transition rules. */
  validate(object: JsonObject, oldObject?: JsonObject): readonly FieldError[];
  /** The schema at a path of property names: `schemaAt(['spec', 'template'])`. */
  at(path: readonly string[]): Schema | undefined;
}

export type { Json, JsonObject, Schema };
