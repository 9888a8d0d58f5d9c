/**
 * Rules as the evaluator gets to see them. Two functions it has of its own are not what Kubernetes has, so calls of them are
 * renamed, to names of the same length, so that positions in error messages stay true:
 * - `matches` takes Go's regular expressions here (`goMatch`)
 * - while types are checked, `has` looks whether its field can be there at all (`fld`)
 */
import type { Environment } from '@marcbachmann/cel-js';
import { goRegExp } from '../go-regexp.ts';

const STRING = /[rR]?'''[\s\S]*?'''|[rR]?"""[\s\S]*?"""|[rR]'[^']*'|[rR]"[^"]*"|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/;
const STRING_OR_CALL = new RegExp(`${STRING.source}|\\b(?:has|matches)(?=\\s*\\()`, 'g');

/** The rule to run. */
export function runnable(rule: string): string {
  return rule.replace(STRING_OR_CALL, (found) => (found === 'matches' ? 'goMatch' : found));
}

/** The rule to check. */
export function checkable(rule: string): string {
  return rule.replace(STRING_OR_CALL, (found) => (found === 'has' ? 'fld' : found === 'matches' ? 'goMatch' : found));
}

/** Names in the evaluator's messages as the author of the rule wrote them. */
export function asWritten(message: string): string {
  return message.replace(/\bgoMatch\b/g, 'matches').replace(/\bfld\b/g, 'has');
}

/** Declares the functions that calls are renamed to. */
export function registerDialect(env: Environment): void {
  const matches = (text: string, pattern: string): boolean => {
    const expression = goRegExp(pattern);
    if (expression === undefined) throw new Error(`error parsing regexp: ${pattern}`);
    return expression.test(text);
  };
  env
    .registerFunction('string.goMatch(string): bool', matches)
    .registerFunction('goMatch(string, string): bool', matches)
    .registerFunction('fld(dyn): bool', () => true);
}
