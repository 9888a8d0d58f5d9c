/**
 * Defines a kind once: the validation of the API server, the text of `kubectl explain`, and the TypeScript type of objects that
 * the API server returns. `Static<typeof schema>` is that type: a field with a default is always present, other fields that are
 * not required are optional, and removed fields are absent.
 */
import type { Json, JsonSchema, Rule } from './json-schema.ts';

type Presence = 'optional' | 'required' | 'defaulted' | 'removed';

export interface Schema<T, P extends Presence = 'optional'> {
  readonly json: JsonSchema;
  readonly presence: P;
  /** A rule that this field adds to its parent object. */
  readonly ruleOfParent?: (field: string) => Rule;
  /** Absent at run time: it only carries the type. */
  readonly __type?: T;
}

type AnySchema = Schema<unknown, Presence>;
type Fields = Readonly<Record<string, AnySchema>>;
type Flat<T> = { [K in keyof T]: T[K] };

/** The type of the values of a schema. */
export type Static<S> = S extends Schema<infer T, Presence> ? T : never;

type ObjectOf<F extends Fields> = Flat<
  {
    readonly [K in keyof F as F[K]['presence'] extends 'required' | 'defaulted' ? K : never]: Static<F[K]>;
  } & {
    readonly [K in keyof F as F[K]['presence'] extends 'optional' ? K : never]?: Static<F[K]>;
  }
>;

interface Ruled {
  readonly rules?: readonly Rule[];
}

type Options<Key extends keyof JsonSchema> = Pick<JsonSchema, Key> & Ruled;

/** An object with these fields; a field is optional unless it is wrapped in one of the functions below. */
export function object<F extends Fields>(
  description: string,
  fields: F,
  { rules = [] }: Ruled = {},
): Schema<ObjectOf<F>> {
  const entries = Object.entries(fields);
  const required = entries.filter(([, field]) => field.presence === 'required' && field.ruleOfParent === undefined);
  const ofFields = entries.flatMap(([name, field]) => field.ruleOfParent?.(name) ?? []);
  return schema({
    description,
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, field]) => [name, field.json])),
    ...(required.length === 0 ? {} : { required: required.map(([name]) => name) }),
    ...validations([...rules, ...ofFields]),
  });
}

/** A map from any name to values of one schema. */
export function map<T>(
  description: string,
  values: Schema<T>,
  { rules, ...options }: Options<'maxProperties' | 'x-kubernetes-map-type'> = {},
): Schema<Readonly<Record<string, T>>> {
  return schema({ description, type: 'object', ...options, additionalProperties: values.json, ...validations(rules) });
}

/** A list; server-side apply replaces it as a whole unless the options name the keys of its items. */
export function list<T>(
  description: string,
  items: Schema<T>,
  {
    rules,
    ...options
  }: Options<'minItems' | 'maxItems' | 'x-kubernetes-list-type' | 'x-kubernetes-list-map-keys'> = {},
): Schema<readonly T[]> {
  const ofList = { 'x-kubernetes-list-type': 'atomic', ...options } as const;
  return schema({ description, type: 'array', ...ofList, items: items.json, ...validations(rules) });
}

/** A string; `patternMessage` explains the pattern, beside the pattern itself that the API server quotes. */
export function text(
  description: string,
  { rules = [], patternMessage, ...options }: TextOptions = {},
): Schema<string> {
  const { pattern } = options;
  const explained =
    pattern === undefined || patternMessage === undefined
      ? []
      : [{ rule: `self.matches(${JSON.stringify(pattern)})`, message: patternMessage }];
  return schema({ description, type: 'string', ...options, ...validations([...explained, ...rules]) });
}

type TextOptions = Options<'pattern' | 'minLength' | 'maxLength'> & { readonly patternMessage?: string };

/**
 * One of a few values. A former value stays in the enum, because an enum error would keep the rules from being checked; a rule
 * refuses it and names the new value.
 */
export function choice<const V extends readonly string[]>(
  description: string,
  values: V,
  former: Readonly<Record<string, V[number]>> = {},
): Schema<V[number]> {
  const rules = Object.entries(former).map(([word, now]) => ({
    rule: `self != '${word}'`,
    message: `${word} is now called ${now}`,
  }));
  return schema({ description, type: 'string', enum: [...values, ...Object.keys(former)], ...validations(rules) });
}

/** A point in time, RFC 3339. */
export function time(description: string): Schema<string> {
  return schema({ description, type: 'string', format: 'date-time' });
}

/** A whole number. */
export function integer(
  description: string,
  { rules, ...options }: Options<'format' | 'minimum' | 'maximum'> = {},
): Schema<number> {
  return schema({ description, type: 'integer', ...options, ...validations(rules) });
}

/** Any number. */
export function number(
  description: string,
  { rules, ...options }: Options<'minimum' | 'maximum'> = {},
): Schema<number> {
  return schema({ description, type: 'number', ...options, ...validations(rules) });
}

/** True or false. */
export function boolean(description: string): Schema<boolean> {
  return schema({ description, type: 'boolean' });
}

/** An amount of a resource as Kubernetes writes it, `500m`, `4Gi`, or a plain number. */
export function quantity({ rules, ...options }: Options<'maxLength'> = {}): Schema<string | number> {
  return schema({
    'x-kubernetes-int-or-string': true,
    anyOf: [{ type: 'integer' }, { type: 'string' }],
    ...options,
    pattern:
      '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$',
    ...validations(rules),
  });
}

/** A required field. */
export function required<T>(of: Schema<T>): Schema<T, 'required'> {
  return { ...of, presence: 'required' };
}

/**
 * A required field, enforced by a rule: its message says what to write, and the other rules are still checked, which the API
 * server does not do where a field of `required` is missing.
 */
export function requiredByRule<T>(of: Schema<T>, message: string): Schema<T, 'required'> {
  return { ...of, presence: 'required', ruleOfParent: (field) => ({ rule: `has(self.${field})`, message }) };
}

/** A field with a default. */
export function defaulted<T>(value: Json, of: Schema<T>): Schema<T, 'defaulted'> {
  return { ...of, json: { ...of.json, default: value }, presence: 'defaulted' };
}

/** A field of former versions: it stays in the schema only to refuse it with a message that says what to write now. */
export function removed(shape: keyof typeof REMOVED_SHAPES, instead: string): Schema<never, 'removed'> {
  return {
    json: { description: `Refused: ${instead}.`, ...REMOVED_SHAPES[shape] },
    presence: 'removed',
    ruleOfParent: (field) => ({ rule: `!has(self.${field})`, message: `${field} does not belong here: ${instead}` }),
  };
}

/** Rules do not see fields without a type, so that a removed field keeps its type. */
const REMOVED_SHAPES = {
  text: { type: 'string' },
  integer: { type: 'integer' },
  object: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  list: { type: 'array', items: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
} as const satisfies Record<string, JsonSchema>;

function schema<T>(json: JsonSchema): Schema<T> {
  return { json, presence: 'optional' };
}

function validations(rules: readonly Rule[] = []): Pick<JsonSchema, 'x-kubernetes-validations'> {
  return rules.length === 0 ? {} : { 'x-kubernetes-validations': rules };
}
