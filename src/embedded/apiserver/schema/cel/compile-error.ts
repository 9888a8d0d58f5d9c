import { EvaluationError, ParseError, TypeError as TypeProblem } from '@marcbachmann/cel-js';

/** An error of the evaluator without the picture of the source it adds for terminals. */
export function problemOf(error: unknown): string {
  if (isCelError(error)) return error.summary;
  return error instanceof Error ? error.message : String(error);
}

/**
 * Why a rule does not compile, as the API server says it: where in the rule, and what cannot be.
 *
 *     ERROR: <input>:1:5: undefined field 'foo'
 *      | self.foo > 1
 *      | ....^
 */
export function compileProblem(rule: string, error: unknown): string {
  const start = isCelError(error) ? (error.range?.start ?? 0) : 0;
  const [position, sentence] = describe(rule, error, start);
  const before = rule.slice(0, position);
  const lineNumber = before.split('\n').length;
  const column = position - (before.lastIndexOf('\n') + 1);
  const line = rule.split('\n')[lineNumber - 1] ?? '';
  return `ERROR: <input>:${lineNumber}:${column + 1}: ${sentence}\n | ${line}\n | ${'.'.repeat(column)}^`;
}

type CelError = EvaluationError | ParseError | TypeProblem;

function isCelError(error: unknown): error is CelError {
  return error instanceof EvaluationError || error instanceof ParseError || error instanceof TypeProblem;
}

function describe(rule: string, error: unknown, start: number): readonly [position: number, sentence: string] {
  const problem = problemOf(error);
  if (!isCelError(error)) return [start, problem];
  if (error instanceof ParseError) return [start, `Syntax error: ${problem}`];
  const field = /^No such key: (.*)$/.exec(problem)?.[1];
  // Kubernetes points at the dot before a field, the evaluator at the field.
  if (field !== undefined) return [Math.max(0, rule.lastIndexOf('.', start)), `undefined field '${field}'`];
  const variable = /^Unknown variable: (.*)$/.exec(problem)?.[1];
  if (variable !== undefined) return [start, `undeclared reference to '${variable}' (in container '')`];
  const operator = /^no such overload: (\S+) (\S+) (\S+)$/.exec(problem);
  if (operator !== null) {
    const [, left = '', symbol = '', right = ''] = operator;
    const at = rule.indexOf(` ${symbol}`, start);
    const name = symbol === 'in' ? '@in' : `_${symbol}_`;
    return [at < 0 ? start : at + 1, `found no matching overload for '${name}' applied to '(${left}, ${right})'`];
  }
  const call = /^found no matching overload for '(?:(.*)\.)?(\w+)\((.*)\)'$/.exec(problem);
  if (call !== null) return describeCall(rule, start, call);
  return [start, problem];
}

function describeCall(rule: string, start: number, call: RegExpExecArray): readonly [number, string] {
  const [, receiver, name = '', args = ''] = call;
  const at = rule.indexOf(`${name}(`, start);
  const position = at < 0 ? start : at + name.length;
  const applied = receiver === undefined ? `'(${args})'` : `'${receiver}.(${args})'`;
  return [position, `found no matching overload for '${name}' applied to ${applied}`];
}
