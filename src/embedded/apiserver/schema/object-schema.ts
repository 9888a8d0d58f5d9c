/** Prunes, defaults and validates objects of one kind and version by their schema. */
import { applyDefaults, fillDefaults, hasDefault } from './apply-defaults.ts';
import { decodeBuiltIn } from './builtin/decode.ts';
import { compileRules, type RuleNode } from './cel/compile-rules.ts';
import { evaluateRules } from './cel/evaluate-rules.ts';
import { validateEmbeddedResources } from './embedded-resources.ts';
import { type FieldError, invalid } from './field-error.ts';
import { propertySchema } from './json-object.ts';
import { validateListTypes } from './list-types.ts';
import { type Pruned, prune } from './prune.ts';
import type { JsonObject, Schema } from './schema.ts';
import { validateSchema } from './validate-schema.ts';

/** Errors after which CEL rules are not evaluated, because the shape of the object is unclear. */
const BLOCKING: ReadonlySet<string> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);

/** The schema of one kind and version, prepared once. Never changes its arguments. */
export class ObjectSchema {
  readonly schema: Schema;
  /** Whether any part of it has a default. */
  readonly hasDefaults: boolean;
  readonly #kind: 'built-in' | 'custom';
  #rules: RuleNode | undefined;
  #compiled = false;

  /** A custom kind has apiVersion, kind and metadata implicitly; a built-in one lists them. */
  constructor(schema: Schema, kind: 'built-in' | 'custom' = 'custom') {
    this.schema = schema;
    this.hasDefaults = kind === 'custom' && hasDefault(schema);
    this.#kind = kind;
  }

  /** Removes unknown fields. Built-in kinds are also decoded like Go types. */
  prune(object: JsonObject): Pruned {
    return this.#kind === 'custom' ? prune(object, this.schema) : decodeBuiltIn(object, this.schema);
  }

  /** Fills in defaults, and removes nulls that the schema does not allow. */
  applyDefaults(object: JsonObject): JsonObject {
    return applyDefaults(object, this.schema) as JsonObject;
  }

  /** Fills in defaults that a stored object lacks; returns the object itself if it lacks none. */
  fillDefaults(object: JsonObject): JsonObject {
    return fillDefaults(object, this.schema) as JsonObject;
  }

  /**
   * Validates schema, list types and CEL rules. With the old object it also checks transition rules, and tolerates
   * errors in unchanged values (ratcheting).
   */
  validate(object: JsonObject, oldObject?: JsonObject): readonly FieldError[] {
    // Metadata is validated elsewhere, and the rest passed before.
    if (oldObject !== undefined && isSharedButMetadata(object, oldObject)) return [];
    const errors = [
      ...validateSchema(object, this.schema, '', oldObject),
      ...validateEmbeddedResources(object, this.schema),
      ...validateListTypes(object, this.schema),
    ];
    const rules = this.#compiledRules();
    if (rules === undefined) return errors;
    if (errors.some((error) => BLOCKING.has(error.reason))) return [...errors, RULES_NOT_CHECKED];
    return [...errors, ...evaluateRules(rules, object, '', oldObject)];
  }

  /** The schema at a path of property names: `at(['spec', 'template'])`. */
  at(path: readonly string[]): Schema | undefined {
    return path.reduce<Schema | undefined>((schema, name) => schema && propertySchema(schema, name), this.schema);
  }

  /** Compiled for the first object: a definition may be read many times before. */
  #compiledRules(): RuleNode | undefined {
    if (!this.#compiled) {
      this.#rules = compileRules(this.schema, true);
      this.#compiled = true;
    }
    return this.#rules;
  }
}

/** Whether everything but the metadata is identical. */
function isSharedButMetadata(object: JsonObject, old: JsonObject): boolean {
  const keys = Object.keys(object);
  if (keys.length !== Object.keys(old).length) return false;
  return keys.every((key) => key === 'metadata' || object[key] === old[key]);
}

const RULES_NOT_CHECKED = invalid(
  '<nil>',
  null,
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
);
