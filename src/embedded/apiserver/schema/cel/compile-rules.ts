/** The rules of a schema (x-kubernetes-validations), compiled once, in a tree shaped like the schema. */
import type { Environment } from '@marcbachmann/cel-js';
import { goRegExp } from '../go-regexp.ts';
import type { Json, Schema, ValidationRule } from '../schema.ts';
import { type CelType, CelTypes } from './cel-type.ts';
import { compileProblem, pointAt } from './compile-error.ts';
import { asWritten, forEvaluator } from './dialect.ts';
import { fieldPathText } from './field-path.ts';
import { kubernetesEnvironment } from './library/kubernetes-library.ts';
import { loopDepth } from './rule-cost.ts';

type Program = (variables: Readonly<Record<string, unknown>>) => unknown;

export interface CompiledRule {
  readonly rule: ValidationRule;
  readonly usesOldSelf: boolean;
  /** How deep its loops nest. */
  readonly loops: number;
  /** Undefined for an empty rule and for one that does not compile. */
  readonly program?: Program;
  readonly messageProgram?: Program;
  /** `.spec.x` → `spec.x`, below the field the rule is on. */
  readonly fieldPath?: string;
  /** Why the rule, or its message expression, does not compile. */
  readonly error?: string;
  readonly messageError?: string;
}

/** A part of a schema that has rules, or contains parts that do. */
export interface RuleNode {
  readonly schema: Schema;
  readonly rules: readonly CompiledRule[];
  /** Converts values of this schema to CEL values; set whenever there are rules. */
  readonly convert: (value: Json) => unknown;
  readonly properties: ReadonlyMap<string, RuleNode>;
  readonly additionalProperties?: RuleNode;
  readonly items?: RuleNode;
  readonly allOf: readonly RuleNode[];
}

/** Compiles all rules of a schema; undefined if there are none. `isRoot`: the schema describes a whole resource. */
export function compileRules(schema: Schema, isRoot: boolean, typeSchema: Schema = schema): RuleNode | undefined {
  const { rules, convert } = compileNode(schema, typeSchema, isRoot);
  const properties = new Map<string, RuleNode>();
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const type = typeSchema.properties?.[name];
    const node = type === undefined ? undefined : compileRules(property, isEmbedded(type), type);
    if (node !== undefined) properties.set(name, node);
  }
  const values = below(schema.additionalProperties, typeSchema.additionalProperties);
  const items = below(schema.items, typeSchema.items);
  const allOf = (schema.allOf ?? []).flatMap((part) => compileRules(part, isRoot, typeSchema) ?? []);
  const empty = rules.length === 0 && properties.size === 0 && allOf.length === 0;
  if (empty && values === undefined && items === undefined) return undefined;
  return {
    schema: typeSchema,
    rules,
    convert,
    properties,
    ...(values === undefined ? {} : { additionalProperties: values }),
    ...(items === undefined ? {} : { items }),
    allOf,
  };
}

function below(schema: Schema | boolean | undefined, type: Schema | boolean | undefined): RuleNode | undefined {
  return typeof schema === 'object' && typeof type === 'object'
    ? compileRules(schema, isEmbedded(type), type)
    : undefined;
}

function isEmbedded(schema: Schema): boolean {
  return schema['x-kubernetes-embedded-resource'] === true;
}

function compileNode(schema: Schema, typeSchema: Schema, isRoot: boolean): Pick<RuleNode, 'rules' | 'convert'> {
  const written = schema['x-kubernetes-validations'] ?? [];
  if (written.length === 0) return { rules: [], convert: (value) => value };
  const env = kubernetesEnvironment();
  const self = new CelTypes(env).typeOf(typeSchema, isRoot);
  if (self === undefined) {
    const error = 'failed to convert to declType for CEL validation rules';
    return { rules: written.map((rule) => ({ rule, usesOldSelf: false, loops: 0, error })), convert: (value) => value };
  }
  const environments = new Environments(env, self);
  return { rules: written.map((rule) => compileRule(rule, environments, typeSchema)), convert: self.convert };
}

/** The environments of one schema's rules, each built on first use. */
class Environments {
  readonly #base: Environment;
  readonly #self: CelType;
  readonly #derived = new Map<string, Environment>();

  constructor(base: Environment, self: CelType) {
    this.#base = base;
    this.#self = self;
  }

  /** `oldSelf` is declared as optional or not. Lists may mix types only in rules that use `format`. */
  for({ rule, messageExpression = '', optionalOldSelf }: ValidationRule): Environment {
    const oldSelf = optionalOldSelf === true ? `optional<${this.#self.name}>` : this.#self.name;
    const homogeneousAggregateLiterals = !/\.format\(/.test(rule + messageExpression);
    const key = `${oldSelf} ${homogeneousAggregateLiterals}`;
    let env = this.#derived.get(key);
    if (env === undefined) {
      env = this.#base
        .clone({ homogeneousAggregateLiterals })
        .registerVariable('self', this.#self.name)
        .registerVariable('oldSelf', oldSelf);
      this.#derived.set(key, env);
    }
    return env;
  }
}

function compileRule(rule: ValidationRule, environments: Environments, schema: Schema): CompiledRule {
  const facts = { rule, usesOldSelf: /\boldSelf\b/.test(rule.rule), loops: loopDepth(rule.rule) };
  if (rule.rule.trim() === '') return facts;
  const env = environments.for(rule);
  const compiled = compile(rule.rule, env, 'bool', 'cel expression must evaluate to a bool');
  if ('error' in compiled) return { ...facts, error: compiled.error };
  const message = rule.messageExpression;
  const messageCompiled =
    message === undefined || message === ''
      ? undefined
      : compile(message, env, 'string', 'messageExpression must evaluate to a string');
  const fieldPath = rule.fieldPath === undefined ? undefined : fieldPathText(rule.fieldPath, schema);
  return {
    ...facts,
    program: compiled.program,
    ...(messageCompiled === undefined
      ? {}
      : 'error' in messageCompiled
        ? { messageError: messageCompiled.error.replace(/^compilation/, 'messageExpression compilation') }
        : { messageProgram: messageCompiled.program }),
    ...(fieldPath === undefined || 'problem' in fieldPath ? {} : { fieldPath: fieldPath.path }),
  };
}

type Compiled = { readonly program: Program } | { readonly error: string };

function compile(text: string, env: Environment, type: 'bool' | 'string', wrongType: string): Compiled {
  try {
    const program = env.parse(forEvaluator(text));
    const checked = program.check();
    if (!checked.valid) {
      return { error: `compilation failed: ${compileProblem(text, checked.error, functionNames(env))}` };
    }
    const bad = badPatternAt(text);
    if (bad !== undefined) return { error: `compilation failed: ${pointAt(text, bad, 'invalid matches argument')}` };
    return checked.type === type || checked.type === 'dyn' ? { program } : { error: wrongType };
  } catch (error) {
    return { error: `compilation failed: ${compileProblem(text, error, functionNames(env))}` };
  }
}

function functionNames(env: Environment): ReadonlySet<string> {
  return new Set([...env.getDefinitions().functions.map((declared) => asWritten(declared.name)), 'has', 'matches']);
}

/** The position of an invalid literal pattern in the rule, if there is one. */
function badPatternAt(rule: string): number | undefined {
  for (const match of rule.matchAll(/\.matches\((r)?(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\)/g)) {
    const [whole, raw, single, double] = match;
    const written = single ?? double ?? '';
    const pattern = raw === undefined ? written.replace(/\\\\/g, '\\') : written;
    if (goRegExp(pattern) === undefined) return match.index + whole.indexOf('(') + 1;
  }
  return undefined;
}
