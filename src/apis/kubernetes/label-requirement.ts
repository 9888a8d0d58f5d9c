/** One condition on labels, as all selectors of Kubernetes are made of. */
import { SpindriftError } from '../../platform/errors.ts';
import { labelKeyProblems, labelValueProblems } from './label-syntax.ts';

export type Labels = Readonly<Record<string, string>>;

export type LabelOperator = '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | '!' | '>' | '<';

export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  readonly values: readonly string[];
}

const WHOLE_NUMBER = /^[+-]?\d+$/;

/** Makes a requirement, refusing with the API server's sentence what it would refuse. */
export function labelRequirement(
  key: string,
  operator: LabelOperator,
  values: readonly string[],
  path = '',
): LabelRequirement {
  const at = (child: string): string => (path === '' ? child : `${path}.${child}`);
  const problems: string[] = [];
  const keyProblems = labelKeyProblems(key);
  if (keyProblems.length > 0) problems.push(invalidValue(at('key'), key, keyProblems.join('; ')));
  const countProblem = valueCountProblem(operator, values.length);
  if (countProblem !== undefined) problems.push(invalidValue(at('values'), values, countProblem));
  values.forEach((value, index) => {
    if ((operator === '>' || operator === '<') && !WHOLE_NUMBER.test(value)) {
      problems.push(
        invalidValue(at(`values[${index}]`), value, "for 'Gt', 'Lt' operators, the value must be an integer"),
      );
    }
    const valueProblems = labelValueProblems(value);
    if (valueProblems.length > 0)
      problems.push(invalidValue(at(`values[${index}][${key}]`), value, valueProblems.join('; ')));
  });
  if (problems.length > 0)
    throw selectorInvalid(problems.length === 1 ? (problems[0] as string) : `[${problems.join(', ')}]`);
  return { key, operator, values };
}

/** Tells whether labels meet a requirement. */
export function meets(requirement: LabelRequirement, labels: Labels): boolean {
  const { key, operator, values } = requirement;
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case '=':
    case '==':
    case 'in':
      return value !== undefined && values.includes(value);
    case '!=':
    case 'notin':
      return value === undefined || !values.includes(value);
    case 'exists':
      return value !== undefined;
    case '!':
      return value === undefined;
    case '>':
    case '<':
      return value !== undefined && WHOLE_NUMBER.test(value) && isOrdered(value, operator, values[0] ?? '');
  }
}

/** The requirement as kubectl writes it. */
export function formatRequirement({ key, operator, values }: LabelRequirement): string {
  if (operator === 'exists') return key;
  if (operator === '!') return `!${key}`;
  const joined = [...values].sort().join(',');
  return operator === 'in' || operator === 'notin' ? `${key} ${operator} (${joined})` : `${key}${operator}${joined}`;
}

/** An error whose sentence is the one the API server gives. */
export function selectorInvalid(problem: string): SpindriftError {
  return new SpindriftError('SELECTOR_INVALID', { problem });
}

/** `path: Invalid value: "x": why`, as the API server says it; a missing path is said as Go says it. */
export function invalidValue(path: string, value: unknown, why: string): string {
  return `${path === '' ? '<nil>' : path}: Invalid value: ${JSON.stringify(value)}: ${why}`;
}

function isOrdered(value: string, operator: '>' | '<', bound: string): boolean {
  if (!WHOLE_NUMBER.test(bound)) return false;
  // Labels are at most 63 characters, more than a double holds exactly.
  const [a, b] = [wholeNumber(value), wholeNumber(bound)];
  return operator === '>' ? a > b : a < b;
}

function wholeNumber(text: string): bigint {
  return BigInt(text.startsWith('+') ? text.slice(1) : text);
}

function valueCountProblem(operator: LabelOperator, count: number): string | undefined {
  switch (operator) {
    case 'in':
    case 'notin':
      return count === 0 ? "for 'in', 'notin' operators, values set can't be empty" : undefined;
    case '=':
    case '==':
    case '!=':
      return count === 1 ? undefined : 'exact-match compatibility requires one single value';
    case 'exists':
    case '!':
      return count === 0 ? undefined : 'values set must be empty for exists and does not exist';
    case '>':
    case '<':
      return count === 1 ? undefined : "for 'Gt', 'Lt' operators, exactly one value is required";
  }
}
