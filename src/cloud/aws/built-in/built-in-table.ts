/** Reads the built-in files on first use: they are large, and most runs need none of them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const read = new Map<string, unknown>();

export function builtInTable<T>(name: 'shapes' | 'zones' | 'on-demand-prices'): T {
  const known = read.get(name);
  if (known !== undefined) return known as T;
  const table: unknown = JSON.parse(readFileSync(join(import.meta.dirname, `${name}.json`), 'utf8'));
  read.set(name, table);
  return table as T;
}
