import { EvaluationError, ParseError, TypeError as TypeProblem } from '@marcbachmann/cel-js';
import { asWritten } from './dialect.ts';

type CelError = EvaluationError | ParseError | TypeProblem;

function isCelError(error: unknown): error is CelError {
  return error instanceof EvaluationError || error instanceof ParseError || error instanceof TypeProblem;
}

/** The evaluator's message, without the source excerpt that it adds for terminals. */
export function problemOf(error: unknown): string {
  if (isCelError(error)) return asWritten(error.summary);
  return error instanceof Error ? error.message : String(error);
}

/** Why a rule does not compile, in the API server's words. `functions` are the names of the known functions. */
export function compileProblem(rule: string, error: unknown, functions: ReadonlySet<string>): string {
  const start = isCelError(error) ? (error.range?.start ?? 0) : 0;
  const [position, sentence] = describe({ rule, start, functions, problem: problemOf(error) }, error);
  return pointAt(rule, position, sentence);
}

/**
 * A sentence about a place in a rule:
 *
 *     ERROR: <input>:1:5: undefined field 'foo'
 *      | self.foo > 1
 *      | ....^
 */
export function pointAt(rule: string, position: number, sentence: string): string {
  const before = rule.slice(0, position);
  const lineNumber = before.split('\n').length;
  const column = position - (before.lastIndexOf('\n') + 1);
  const line = rule.split('\n')[lineNumber - 1] ?? '';
  return `ERROR: <input>:${lineNumber}:${column + 1}: ${sentence}\n | ${line}\n | ${'.'.repeat(column)}^`;
}

interface Problem {
  readonly rule: string;
  /** The position that the evaluator reports. */
  readonly start: number;
  readonly problem: string;
  readonly functions: ReadonlySet<string>;
}

type Described = readonly [position: number, sentence: string];

/** The evaluator's messages, each with the API server's wording and position. */
const SENTENCES: readonly (readonly [RegExp, (match: RegExpExecArray, problem: Problem) => Described])[] = [
  [
    /^No such key: (.*)$/,
    ([, field = ''], { rule, start }) => [fieldPosition(rule, start, field), `undefined field '${field}'`],
  ],
  [/^Unknown variable: (.*)$/, ([, name], { start }) => [start, `undeclared reference to '${name}' (in container '')`]],
  [
    /^Cannot index type '(.*)'$/,
    ([, type = ''], { rule, start }) => [
      dotBefore(rule, start),
      `type '${typeText(type)}' does not support field selection`,
    ],
  ],
  [/^no such overload: (\S+) (\S+) (.+)$/, describeOperator],
  [
    /^no such overload: ([!-])(\S+)$/,
    ([, operator, type = ''], { start }) => [start, noOverload(`${operator}_`, `(${typeText(type)})`)],
  ],
  [/^found no matching overload for '(?:(.*)\.)?(\w+)\((.*)\)'$/, describeCall],
  [
    /^Ternary branches must have the same type, got '(.*)' and '(.*)'$/,
    ([, yes = '', no = ''], { rule, start }) => [
      Math.max(start, rule.indexOf('?', start)),
      noOverload('_?_:_', `(bool, ${typeText(yes)}, ${typeText(no)})`),
    ],
  ],
];

function describe(problem: Problem, error: unknown): Described {
  if (error instanceof ParseError) return [problem.start, `Syntax error: ${problem.problem}`];
  for (const [pattern, say] of SENTENCES) {
    const match = pattern.exec(problem.problem);
    if (match !== null) return say(match, problem);
  }
  return [problem.start, problem.problem];
}

/** Kubernetes points at the dot before a field, and inside `has` at the bracket. The evaluator points at the field. */
function fieldPosition(rule: string, start: number, field: string): number {
  const asked = /\bhas(\s*\()[^()]*$/.exec(rule.slice(0, start));
  if (asked !== null && /^\s*\)/.test(rule.slice(start + field.length))) return asked.index + 3;
  return dotBefore(rule, start);
}

function dotBefore(rule: string, start: number): number {
  return Math.max(0, rule.lastIndexOf('.', start));
}

function describeOperator(
  [, left = '', symbol = '', right = '']: RegExpExecArray,
  { rule, start }: Problem,
): Described {
  const at = rule.indexOf(` ${symbol}`, start);
  const name = symbol === 'in' ? '@in' : `_${symbol}_`;
  return [at < 0 ? start : at + 1, noOverload(name, `(${typeText(left)}, ${typeText(right)})`)];
}

function describeCall([, receiver, name = '', args = '']: RegExpExecArray, problem: Problem): Described {
  const at = problem.rule.indexOf(`${name}(`, problem.start);
  const position = at < 0 ? problem.start : at + name.length;
  if (!problem.functions.has(name)) return [position, `undeclared reference to '${name}' (in container '')`];
  const applied = receiver === undefined ? `(${typeText(args)})` : `${typeText(receiver)}.(${typeText(args)})`;
  return [position, noOverload(name, applied)];
}

function noOverload(name: string, applied: string): string {
  return `found no matching overload for '${name}' applied to '${applied}'`;
}

/** `list<string>` in CEL notation: `list(string)`. */
function typeText(type: string): string {
  return type
    .replaceAll('<', '(')
    .replaceAll('>', ')')
    .replace(/\bObject\d+\b/g, 'object');
}
