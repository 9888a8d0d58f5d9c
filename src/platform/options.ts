/**
 * Options as one table: flag, environment twin, default, what is allowed, one sentence. `--help` and the reference are made
 * from the table, and a wrong value is refused with a sentence that names the option, the value and what is allowed.
 */
import { parseArgs } from 'node:util';
import { SpindriftError } from './errors.ts';
import { hint } from './nearest.ts';

export interface Option<T> {
  /** Without the dashes: `log-level`. */
  readonly flag: string;
  /** The variable that is read when the flag is not given. */
  readonly env?: string;
  /** What stands for the value in help, such as `N` or `FILE`; none for a switch. */
  readonly placeholder?: string;
  readonly fallback: T;
  /** How the default is shown; nothing is shown when there is none to speak of. */
  readonly fallbackText?: string;
  readonly help: string;
  /** What values are allowed, as the end of «it must be …». */
  readonly allowed: string;
  /** The value of a text, or undefined when it is not allowed. */
  parse(text: string): T | undefined;
}

export type OptionTable = Readonly<Record<string, Option<unknown>>>;
export type OptionValues<Table extends OptionTable> = {
  readonly [Name in keyof Table]: Table[Name] extends Option<infer T> ? T : never;
};

interface Described {
  readonly flag: string;
  readonly env?: string;
  readonly help: string;
}

/** `--quiet`: on or off. In the environment `true` or `false`. */
export function switchOption(described: Described): Option<boolean> {
  const parse = (text: string): boolean | undefined => ({ true: true, false: false })[text];
  return { ...described, fallback: false, allowed: 'true or false', parse };
}

export function textOption(described: Described & { placeholder: string; fallback: string }): Option<string>;
export function textOption(described: Described & { placeholder: string }): Option<string | undefined>;
export function textOption(
  described: Described & { placeholder: string; fallback?: string },
): Option<string | undefined> {
  const parse = (text: string): string | undefined => (text === '' ? undefined : text);
  return {
    ...described,
    fallback: described.fallback,
    allowed: 'a text that is not empty',
    parse,
    ...shown(described.fallback),
  };
}

/** A number within limits; a whole one unless `fractions` says otherwise. */
export function numberOption(
  described: Described & {
    readonly placeholder?: string;
    readonly fallback: number;
    readonly min: number;
    readonly max: number;
    readonly fractions?: boolean;
  },
): Option<number> {
  const { min, max, fractions = false, placeholder = 'N' } = described;
  return {
    ...described,
    placeholder,
    allowed: `${fractions ? 'a number' : 'a whole number'} from ${min} to ${max}`,
    parse: (text) => {
      const value = text.trim() === '' ? Number.NaN : Number(text);
      return value >= min && value <= max && (fractions || Number.isInteger(value)) ? value : undefined;
    },
    ...shown(described.fallback),
  };
}

export function choiceOption<const Choice extends string>(
  described: Described & { readonly choices: readonly Choice[]; readonly fallback: Choice },
): Option<Choice> {
  const { choices } = described;
  return {
    ...described,
    placeholder: choices.join('|'),
    allowed: `one of ${choices.join(', ')}`,
    parse: (text) => choices.find((choice) => choice === text),
    ...shown(described.fallback),
  };
}

/** A time such as `90s`, `15m`, `1h30m` or `250ms`, in milliseconds. */
export function durationOption(described: Described & { readonly fallback: string }): Option<number> {
  return {
    ...described,
    placeholder: 'TIME',
    fallback: parseDuration(described.fallback) ?? 0,
    allowed: 'a time such as 90s, 15m or 1h30m',
    parse: parseDuration,
    ...shown(described.fallback),
  };
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Milliseconds of a time as Go writes it; undefined when it is none. */
export function parseDuration(text: string): number | undefined {
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/([\d.]+)(ms|s|m|h)/g))
    total += Number(amount) * (UNIT_MS[unit ?? ''] ?? 0);
  return total;
}

export interface ParsedOptions<Table extends OptionTable> {
  readonly values: OptionValues<Table>;
  readonly positionals: readonly string[];
}

/** Reads a command's arguments and the environment. */
export function parseOptions<Table extends OptionTable>(
  table: Table,
  command: string,
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): ParsedOptions<Table> {
  const named = Object.entries(table);
  const { tokens, positionals } = parseArgs({
    args: [...args],
    strict: false,
    allowPositionals: true,
    tokens: true,
    options: Object.fromEntries(
      named.map(([, option]) => [
        option.flag,
        { type: option.placeholder === undefined ? 'boolean' : 'string' } as const,
      ]),
    ),
  });
  const given = new Map<string, string>();
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const option = named.find(([, candidate]) => candidate.flag === token.name)?.[1];
    if (option === undefined) {
      const known = named.map(([, candidate]) => `--${candidate.flag}`);
      throw new SpindriftError('OPTION_UNKNOWN', { option: token.rawName, command, hint: hint(token.rawName, known) });
    }
    given.set(option.flag, token.value ?? (option.placeholder === undefined ? 'true' : ''));
  }
  const values = Object.fromEntries(named.map(([name, option]) => [name, read(option, given, environment)]));
  return { values: values as OptionValues<Table>, positionals };
}

function read(
  option: Option<unknown>,
  given: ReadonlyMap<string, string>,
  environment: Readonly<Record<string, string | undefined>>,
): unknown {
  const flag = given.get(option.flag);
  const variable = option.env === undefined ? undefined : environment[option.env];
  const text = flag ?? variable;
  if (text === undefined) return option.fallback;
  const value = option.parse(text);
  if (value !== undefined) return value;
  const source = flag === undefined ? `${option.env} (environment)` : `--${option.flag}`;
  throw new SpindriftError('OPTION_INVALID', {
    option: source,
    value: text === '' ? 'empty' : text,
    allowed: option.allowed,
  });
}

function shown(fallback: string | number | undefined): { fallbackText?: string } {
  return fallback === undefined ? {} : { fallbackText: String(fallback) };
}
