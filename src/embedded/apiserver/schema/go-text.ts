/** Prints values as Go does, for the messages of the API server. */
import type { Json } from './schema.ts';

/** `%q`: a string in double quotes, with unprintable characters escaped. */
export function quoted(text: string): string {
  return JSON.stringify(text).replaceAll('\\b', '\\x08').replaceAll('\\f', '\\x0c');
}

/** A value as in `Invalid value: ...`: strings quoted, objects as JSON with sorted keys. */
export function valueText(value: Json | undefined): string {
  return typeof value === 'string' ? quoted(value) : sortedJson(value ?? null);
}

/** JSON with sorted keys, as Go writes maps; equal values give equal text. */
export function sortedJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(',')}]`;
  if (value === null || typeof value !== 'object') return jsonText(value);
  const object = value as Readonly<Record<string, Json>>;
  const entries = Object.keys(object)
    .sort()
    .map((key) => `${jsonText(key)}:${sortedJson(object[key] as Json)}`);
  return `{${entries.join(',')}}`;
}

/** `%v` of a list of strings: `[a b]`. */
export function listText(values: readonly string[]): string {
  return `[${values.join(' ')}]`;
}

/** Go escapes characters that could end a script in a web page. */
function jsonText(value: string | number | boolean | null): string {
  return JSON.stringify(value).replace(/[<>&]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`);
}
