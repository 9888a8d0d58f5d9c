/** The files of the chart, read without Helm. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

const charts = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), 'charts');

export const CHART = join(charts, 'spindrift');
export const DEFINITIONS_CHART = join(charts, 'spindrift-crd');

/** The keywords of `values.schema.json` that our schema uses. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

export function readSchema(): Schema {
  return JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8')) as Schema;
}

export function readValues(): unknown {
  return parse(readFileSync(join(CHART, 'values.yaml'), 'utf8'));
}

/** Text of every template of a chart by its path below `templates/`. */
export function readTemplates(chart = CHART): ReadonlyMap<string, string> {
  const folder = join(chart, 'templates');
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /\.(yaml|tpl|txt)$/.test(path),
  );
  return new Map(paths.map((path) => [path, readFileSync(join(folder, path), 'utf8')]));
}
