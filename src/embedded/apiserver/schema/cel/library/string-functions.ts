import type { Environment } from '@marcbachmann/cel-js';
import { goRegExp } from '../../go-regexp.ts';
import { formatText } from './format-text.ts';

function pattern(text: string): RegExp {
  const found = goRegExp(text);
  if (found === undefined) throw new Error(`Illegal regex: error parsing regexp: ${text}`);
  return found;
}

function findAll(text: string, expression: string, limit: bigint): string[] {
  const regExp = pattern(expression);
  const found = [...text.matchAll(new RegExp(regExp.source, `${regExp.flags}g`))].map((match) => match[0]);
  return limit < 0n ? found : found.slice(0, Number(limit));
}

function charAt(text: string, index: bigint): string {
  const characters = [...text];
  if (index < 0n || index > BigInt(characters.length)) throw new Error(`index out of range: ${index}`);
  return characters[Number(index)] ?? '';
}

function replace(text: string, from: string, to: string, limit: bigint): string {
  let left = limit < 0n ? Number.POSITIVE_INFINITY : Number(limit);
  return text.replaceAll(from, (match) => (left-- > 0 ? to : match));
}

/** The value of the name `strings` in rules, for `strings.quote`. */
class StringsNamespace {}

/** `find` and `findAll` of Kubernetes, and string functions of CEL that the evaluator lacks. */
export function registerStrings(env: Environment): void {
  env
    .registerFunction('string.find(string): string', (text, expression) => pattern(expression).exec(text)?.[0] ?? '')
    .registerFunction('string.findAll(string): list<string>', (text, expression) => findAll(text, expression, -1n))
    .registerFunction('string.findAll(string, int): list<string>', findAll)
    .registerFunction('string.charAt(int): string', charAt)
    .registerFunction('string.replace(string, string): string', (text, from, to) => replace(text, from, to, -1n))
    .registerFunction('string.replace(string, string, int): string', replace)
    .registerFunction('string.format(list): string', formatText)
    .registerType('StringsNamespace', StringsNamespace)
    .registerConstant('strings', 'StringsNamespace', new StringsNamespace())
    .registerFunction('StringsNamespace.quote(string): string', (_, text: string) => JSON.stringify(text));
}
