/** Evaluates the compiled rules of a schema on an object; with the old object, also transition rules. */
import { Optional } from '@marcbachmann/cel-js';

import { oldField, oldItems } from '../correlate.ts';
import { sameJson } from '../equality.ts';
import { duplicate, type FieldError, forbidden, invalid, required } from '../field-error.ts';
import { isList, isObject } from '../json-object.ts';
import type { Json } from '../schema.ts';
import { problemOf } from './compile-error.ts';
import type { CompiledRule, RuleNode } from './compile-rules.ts';
import { isTooExpensive } from './rule-cost.ts';

/** The server's name for the whole object. */
const NO_FIELD = '<nil>';
const OUT_OF_BUDGET = 'validation failed due to running out of cost budget, no further validation rules will be run';
const MAX_MESSAGE = 5 * 1024;

/** Errors of all rules for a value; `path` is empty for a whole object. */
export function evaluateRules(node: RuleNode, value: Json, path = '', old?: Json): FieldError[] {
  const errors: FieldError[] = [];
  const unchanged = old !== undefined && sameJson(value, old);
  walk({ node, value, path, old, unchanged }, errors);
  return errors;
}

interface Place {
  readonly node: RuleNode;
  readonly value: Json;
  readonly path: string;
  /** Undefined if the old object has no matching value. */
  readonly old: Json | undefined;
  /** This value, or the nearest enclosing one that has an old value, is unchanged. */
  readonly unchanged: boolean;
}

function walk(place: Place, errors: FieldError[]): void {
  const { node, value, path, old } = place;
  if (value === null) return;
  runRules(place, errors);
  for (const part of node.allOf) walk({ ...place, node: part }, errors);
  if (isList(value) && node.items !== undefined) {
    const find = oldItems(old, node.schema);
    for (const [index, item] of value.entries()) {
      walk(step(place, node.items, item, `${path}[${index}]`, find(item)), errors);
    }
  } else if (isObject(value)) {
    for (const key of Object.keys(value)) {
      const property = node.properties.get(key);
      const below = property ?? node.additionalProperties;
      if (below === undefined) continue;
      const name = property === undefined ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`;
      walk(step(place, below, value[key] as Json, name, oldField(old, key)), errors);
    }
  }
}

function step(from: Place, node: RuleNode, value: Json, path: string, old: Json | undefined): Place {
  const unchanged = from.unchanged || (old !== undefined && sameJson(value, old));
  return { node, value, path, old, unchanged };
}

function runRules({ node, value, path: at, old, unchanged }: Place, errors: FieldError[]): void {
  if (node.rules.length === 0) return;
  const path = at === '' ? NO_FIELD : at;
  const self = node.convert(value);
  const oldSelf = old === undefined || old === null ? undefined : node.convert(old);
  for (const compiled of node.rules) {
    if (compiled.error !== undefined) {
      errors.push(invalid(path, node.schema.type ?? '', `rule compile error: ${compiled.error}`));
      continue;
    }
    const optional = compiled.rule.optionalOldSelf === true;
    if (compiled.program === undefined || (compiled.usesOldSelf && oldSelf === undefined && !optional)) continue;
    if (isTooExpensive(compiled.loops, value)) {
      errors.push(invalid(path, node.schema.type ?? '', OUT_OF_BUDGET));
      return;
    }
    const variables = { self, oldSelf: optional ? Optional.of(oldSelf) : oldSelf };
    const outcome = run(compiled.program, variables);
    if ('problem' in outcome) errors.push(invalid(path, node.schema.type ?? '', failure(outcome.problem, compiled)));
    else if (outcome.value !== true && (compiled.usesOldSelf || !unchanged)) {
      errors.push(broken(node, compiled, value, path, variables));
    }
  }
}

function run(
  program: (variables: Readonly<Record<string, unknown>>) => unknown,
  variables: Readonly<Record<string, unknown>>,
): { readonly value: unknown } | { readonly problem: string } {
  try {
    return { value: program(variables) };
  } catch (error) {
    return { problem: problemOf(error) };
  }
}

function failure(problem: string, { rule }: CompiledRule): string {
  const text = inCelWords(problem);
  const what = rule.message?.trim() || rule.rule.trim();
  if (text.startsWith('no such overload')) {
    return `'${text}': call arguments did not match a supported operator, function or macro signature for rule: ${what}`;
  }
  return `${text} evaluating rule: ${what}`;
}

/** Rewords the evaluator's messages as cel-go does. */
function inCelWords(problem: string): string {
  const conversion = /^(\w+)\(\) (?:type error|conversion error).*$/.exec(problem)?.[1];
  if (conversion !== undefined) return `type conversion error from 'string' to '${conversion}'`;
  if (/^No such key: index out of bounds/.test(problem))
    return problem.replace(/^.*index (-?\d+).*$/, 'index out of bounds: $1');
  return problem.replace(/^No such key/, 'no such key');
}

function broken(
  node: RuleNode,
  compiled: CompiledRule,
  value: Json,
  path: string,
  variables: Readonly<Record<string, unknown>>,
): FieldError {
  const { rule, fieldPath } = compiled;
  const field = fieldPath === undefined ? path : path === NO_FIELD ? fieldPath : `${path}.${fieldPath}`;
  const written = rule.message?.trim();
  const detail = messageOf(compiled, variables) ?? (written || `failed rule: ${rule.rule.trim()}`);
  // Objects and lists are too long to show.
  const isScalar = node.schema.type !== 'object' && node.schema.type !== 'array';
  switch (rule.reason) {
    case 'FieldValueForbidden':
      return forbidden(field, detail);
    case 'FieldValueRequired':
      return required(field, detail);
    case 'FieldValueDuplicate':
      return isScalar ? duplicate(field, value) : { reason: 'FieldValueDuplicate', field, message: 'Duplicate value' };
    default:
      return isScalar
        ? invalid(field, value, detail)
        : { reason: 'FieldValueInvalid', field, message: `Invalid value: ${detail}` };
  }
}

/** The message of the message expression, if it is usable. */
function messageOf(compiled: CompiledRule, variables: Readonly<Record<string, unknown>>): string | undefined {
  if (compiled.messageProgram === undefined) return undefined;
  const outcome = run(compiled.messageProgram, variables);
  if ('problem' in outcome || typeof outcome.value !== 'string') return undefined;
  const text = outcome.value.trim();
  return text === '' || text.includes('\n') || Buffer.byteLength(text) > MAX_MESSAGE ? undefined : text;
}
