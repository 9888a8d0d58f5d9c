/**
 * Rewrites rules for the evaluator. Two of its functions differ from Kubernetes, so calls to them are renamed. The new
 * names have the same length, so that positions in error messages stay correct:
 * - `matches` takes Go's regular expressions (`goMatch`)
 * - `has` takes any path that ends in a field, but only a field that can exist (`fld`)
 */
import { type Environment, Optional } from '@marcbachmann/cel-js';
import { goRegExp } from '../go-regexp.ts';
import type { Ast, Call, Macro } from './library/macros.ts';

const STRING = /[rR]?'''[\s\S]*?'''|[rR]?"""[\s\S]*?"""|[rR]'[^']*'|[rR]"[^"]*"|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/;
const STRING_OR_CALL = new RegExp(`${STRING.source}|\\b(?:has|matches)(?=\\s*\\()`, 'g');
const RENAMED: Readonly<Record<string, string>> = { has: 'fld', matches: 'goMatch' };

/** The rule with its calls renamed. */
export function forEvaluator(rule: string): string {
  return rule.replace(STRING_OR_CALL, (found) => RENAMED[found] ?? found);
}

/** Restores the function names that the author of the rule wrote in a message. */
export function asWritten(message: string): string {
  return message.replace(/\bgoMatch\b/g, 'matches').replace(/\bfld\b/g, 'has');
}

/** Declares the functions that replace the renamed calls. */
export function registerDialect(env: Environment): void {
  env
    .registerFunction('string.goMatch(string): bool', matches)
    .registerFunction('goMatch(string, string): bool', matches)
    .registerFunction('fld(ast): bool', hasField);
}

function matches(text: string, pattern: string): boolean {
  const expression = goRegExp(pattern);
  if (expression === undefined) throw new Error(`error parsing regexp: ${pattern}`);
  return expression.test(text);
}

function hasField({ args }: Call): Macro {
  const path = args[0] as Ast;
  if (path.op !== '.' && path.op !== '.?') throw new Error('invalid argument to has() macro');
  const [operand, field] = path.args as readonly [Ast, string];
  return {
    typeCheck(checker, _, context) {
      checker.check(path, context);
      return checker.getType('bool');
    },
    evaluate(evaluator, _, context) {
      const found = evaluator.run(operand, context);
      const value = found instanceof Optional ? found.orValue(null) : found;
      if (value instanceof Map) return value.has(field);
      return typeof value === 'object' && value !== null && Object.hasOwn(value, field);
    },
  };
}
