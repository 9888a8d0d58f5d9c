/**
 * Options as one table: flag, environment variable, default, allowed values, help. `--help` and the reference are generated
 * from it, and an error names the option, its value and what is allowed.
 */
import { parseArgs } from 'node:util';
import { SpindriftError } from './errors.ts';
import { hint } from './nearest.ts';

export interface Option<T> {
  /** Without the dashes: `log-level`. */
  readonly flag: string;
  /** One letter for `-f`. */
  readonly short?: string;
  /** The variable that is read when the flag is not given. */
  readonly env?: string;
  /** The placeholder of the value in help, such as `N` or `FILE`; none for a switch. */
  readonly placeholder?: string;
  readonly fallback: T;
  /** The default as shown in help; absent where there is none. */
  readonly fallbackText?: string;
  readonly help: string;
  /** The allowed values, as the end of «it must be …». */
  readonly allowed: string;
  /** Parses the text; undefined when it is not allowed. */
  parse(text: string): T | undefined;
  /** Combines the values of a flag that is given several times; without it the last one counts. */
  join?(values: readonly unknown[]): T;
}

export type OptionTable = Readonly<Record<string, Option<unknown>>>;
export type OptionValues<Table extends OptionTable> = {
  readonly [Name in keyof Table]: Table[Name] extends Option<infer T> ? T : never;
};

interface Described {
  readonly flag: string;
  readonly short?: string;
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

/** `--file A --file B`: all given texts, in order. */
export function listOption(described: Described & { readonly placeholder: string }): Option<readonly string[]> {
  return {
    ...described,
    fallback: [],
    allowed: 'a text that is not empty; can be given several times',
    parse: (text) => (text === '' ? undefined : [text]),
    join: (values) => (values as (readonly string[])[]).flat(),
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

/** Parses a duration as Go writes it, to milliseconds; undefined when it is not one. */
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
        {
          type: option.placeholder === undefined ? ('boolean' as const) : ('string' as const),
          ...(option.short === undefined ? {} : { short: option.short }),
        },
      ]),
    ),
  });
  const given = new Map<string, string[]>();
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const option = named.find(([, candidate]) => candidate.flag === token.name)?.[1];
    if (option === undefined) {
      const known = named.map(([, candidate]) => `--${candidate.flag}`);
      throw new SpindriftError('OPTION_UNKNOWN', { option: token.rawName, command, hint: hint(token.rawName, known) });
    }
    const text = token.value ?? (option.placeholder === undefined ? 'true' : '');
    given.set(option.flag, [...(given.get(option.flag) ?? []), text]);
  }
  const values = Object.fromEntries(named.map(([name, option]) => [name, read(option, given, environment)]));
  return { values: values as OptionValues<Table>, positionals };
}

function read(
  option: Option<unknown>,
  given: ReadonlyMap<string, readonly string[]>,
  environment: Readonly<Record<string, string | undefined>>,
): unknown {
  const flags = given.get(option.flag);
  const variable = option.env === undefined ? undefined : environment[option.env];
  const texts = flags ?? (variable === undefined ? [] : [variable]);
  const last = texts.at(-1);
  if (last === undefined) return option.fallback;
  const source = flags === undefined ? `${option.env} (environment)` : `--${option.flag}`;
  return option.join === undefined
    ? parsed(option, last, source)
    : option.join(texts.map((text) => parsed(option, text, source)));
}

function parsed(option: Option<unknown>, text: string, source: string): unknown {
  const value = option.parse(text);
  if (value !== undefined) return value;
  throw new SpindriftError('OPTION_INVALID', {
    option: source,
    value: text === '' ? 'empty' : text,
    allowed: option.allowed,
  });
}

function shown(fallback: string | number | undefined): { fallbackText?: string } {
  return fallback === undefined ? {} : { fallbackText: String(fallback) };
}
