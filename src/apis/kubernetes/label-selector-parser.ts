/** The grammar of selectors as kubectl writes them: `app=web,tier in (a,b),!canary`. */
import {
  invalidValue,
  type LabelOperator,
  type LabelRequirement,
  labelRequirement,
  selectorInvalid,
} from './label-requirement.ts';
import { labelKeyProblems } from './label-syntax.ts';

interface Token {
  readonly kind: 'identifier' | 'symbol' | 'end';
  readonly text: string;
}

const END: Token = { kind: 'end', text: '' };
const SYMBOLS = new Set([')', ',', '!', '==', '=', '>', '<', '!=', '(']);
const OPERATORS: Readonly<Record<string, LabelOperator>> = {
  '=': '=',
  '==': '==',
  '!=': '!=',
  in: 'in',
  notin: 'notin',
  '>': '>',
  '<': '<',
};
/** In the order in which the API server lists them. */
const EXPECTED_OPERATORS = 'in, notin, =, ==, !=, gt, lt';

/** Reads a selector into its requirements, sorted by key; fails with the API server's sentence. */
export function parseRequirements(selector: string): LabelRequirement[] {
  return new SelectorParser(tokenize(selector)).parse().sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}

function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  // Runs of symbols are cut into the longest known ones, so that `!=` and `=!` are told apart.
  for (const [run] of text.matchAll(/[=!(),<>]+|[^=!(),<>\s]+/g)) {
    if (/^[^=!(),<>]/.test(run)) tokens.push({ kind: 'identifier', text: run });
    else tokens.push(...cutSymbols(run));
  }
  return tokens;
}

function cutSymbols(run: string): Token[] {
  const tokens: Token[] = [];
  let rest = run;
  while (rest !== '') {
    const symbol = SYMBOLS.has(rest.slice(0, 2)) ? rest.slice(0, 2) : rest.slice(0, 1);
    tokens.push({ kind: 'symbol', text: symbol });
    rest = rest.slice(symbol.length);
  }
  return tokens;
}

class SelectorParser {
  readonly #tokens: readonly Token[];
  #position = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  parse(): LabelRequirement[] {
    const requirements: LabelRequirement[] = [];
    if (this.#peek().kind === 'end') return requirements;
    for (;;) {
      if (!this.#startsRequirement()) {
        throw selectorInvalid(`found '${this.#peek().text}', expected: !, identifier, or 'end of string'`);
      }
      requirements.push(this.#requirement());
      const next = this.#take();
      if (next.kind === 'end') return requirements;
      if (next.text !== ',') throw selectorInvalid(`found '${next.text}', expected: ',' or 'end of string'`);
      if (!this.#startsRequirement()) {
        throw selectorInvalid(`found '${this.#peek().text}', expected: identifier after ','`);
      }
    }
  }

  #requirement(): LabelRequirement {
    try {
      return this.#unguardedRequirement();
    } catch (error) {
      throw selectorInvalid(`unable to parse requirement: ${(error as Error).message}`);
    }
  }

  #unguardedRequirement(): LabelRequirement {
    let token = this.#take();
    const negated = token.kind === 'symbol' && token.text === '!';
    if (negated) token = this.#take();
    if (token.kind !== 'identifier') throw selectorInvalid(`found '${token.text}', expected: identifier`);
    const key = token.text;
    const problems = labelKeyProblems(key);
    if (problems.length > 0) throw selectorInvalid(invalidValue('', key, problems.join('; ')));
    if (negated) return labelRequirement(key, '!', []);
    if (this.#atEndOrComma()) return labelRequirement(key, 'exists', []);
    const operator = this.#operator();
    const values = operator === 'in' || operator === 'notin' ? this.#valueSet() : this.#exactValue();
    return labelRequirement(key, operator, [...new Set(values)].sort());
  }

  #operator(): LabelOperator {
    const token = this.#take();
    const operator = Object.hasOwn(OPERATORS, token.text) ? OPERATORS[token.text] : undefined;
    if (operator === undefined) throw selectorInvalid(`found '${token.text}', expected: ${EXPECTED_OPERATORS}`);
    return operator;
  }

  /** `(a,b)`; an empty place between commas or brackets is the empty value. */
  #valueSet(): string[] {
    const open = this.#take();
    if (open.text !== '(') throw selectorInvalid(`found '${open.text}' expected: '('`);
    const values: string[] = [];
    let pending = '';
    for (;;) {
      const token = this.#take();
      if (token.kind === 'identifier') {
        if (pending !== '') throw selectorInvalid(`found '${token.text}', expected: ',' or ')'`);
        pending = token.text;
      } else if (token.text === ',' || token.text === ')') {
        values.push(pending);
        pending = '';
        if (token.text === ')') return values;
      } else if (pending !== '') throw selectorInvalid(`found '${token.text}', expected: ',' or ')'`);
      else if (values.length > 0) throw selectorInvalid(`found '${token.text}', expected: ',', or identifier`);
      else throw selectorInvalid(`found '${token.text}', expected: ',', ')' or identifier`);
    }
  }

  #exactValue(): string[] {
    if (this.#atEndOrComma()) return [''];
    const token = this.#take();
    if (token.kind !== 'identifier') throw selectorInvalid(`found '${token.text}', expected: identifier`);
    return [token.text];
  }

  #startsRequirement(): boolean {
    const token = this.#peek();
    return token.kind === 'identifier' || (token.kind === 'symbol' && token.text === '!');
  }

  #atEndOrComma(): boolean {
    const token = this.#peek();
    return token.kind === 'end' || (token.kind === 'symbol' && token.text === ',');
  }

  #peek(): Token {
    return this.#tokens[this.#position] ?? END;
  }

  #take(): Token {
    const token = this.#peek();
    this.#position++;
    return token;
  }
}
