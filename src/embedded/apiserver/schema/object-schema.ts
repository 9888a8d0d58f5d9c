/** What the API server does with objects of one kind and version by their schema. */
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

/** Errors that leave the shape of the object open, so that rules about it would make no sense. */
const BLOCKING: ReadonlySet<string> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);

/** The schema of one kind and version, made ready once. Nothing given to it is ever changed in place. */
export class ObjectSchema {
  readonly schema: Schema;
  /** Whether anything in it has a default. */
  readonly hasDefaults: boolean;
  readonly #kind: 'built-in' | 'custom';
  #rules: RuleNode | undefined;
  #compiled = false;

  /** A custom kind has apiVersion, kind and metadata without saying so; a built-in one lists them. */
  constructor(schema: Schema, kind: 'built-in' | 'custom' = 'custom') {
    this.schema = schema;
    this.hasDefaults = kind === 'custom' && hasDefault(schema);
    this.#kind = kind;
  }

  /** Without what the schema does not know. Built-in kinds are also read as the types of Go would. */
  prune(object: JsonObject): Pruned {
    return this.#kind === 'custom' ? prune(object, this.schema) : decodeBuiltIn(object, this.schema);
  }

  /** With defaults filled in, and without nulls that the schema does not allow. */
  applyDefaults(object: JsonObject): JsonObject {
    return applyDefaults(object, this.schema) as JsonObject;
  }

  /** With defaults filled in that a stored object lacks; the object itself where it lacks none. */
  fillDefaults(object: JsonObject): JsonObject {
    return fillDefaults(object, this.schema) as JsonObject;
  }

  /** Schema, list types and CEL rules; with the old object also rules about the change, and leave for what did not change. */
  validate(object: JsonObject, oldObject?: JsonObject): readonly FieldError[] {
    // The metadata have rules of their own, and all else has passed these before.
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

  /** Compiled at the first object: a definition may be read many times before. */
  #compiledRules(): RuleNode | undefined {
    if (!this.#compiled) {
      this.#rules = compileRules(this.schema, true);
      this.#compiled = true;
    }
    return this.#rules;
  }
}

/** Whether nothing but the metadata has been written: everything else is the very same. */
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
