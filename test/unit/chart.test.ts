/** What can be said of the chart without Helm: its values, its schema and the options that it sets fit together. */
import { describe, expect, it } from 'vitest';
import { DEFINITIONS } from '../../src/apis/custom-resource-definitions.ts';
import { CLOUD_MODULES } from '../../src/app/cloud-modules.ts';
import { AGENT } from '../../src/cli/agent.ts';
import type { Command } from '../../src/cli/command.ts';
import { RUN } from '../../src/cli/run.ts';
import { readSchema, readTemplates, readValues, type Schema } from '../chart/chart-files.ts';

const templates = readTemplates();
const textOf = (path: string): string => templates.get(path) ?? expect.fail(`there is no template ${path}`);

/** Every value, and every part that has no further ones, with its path. */
function leaves(
  value: unknown,
  schema: Schema | undefined,
  path: string,
): [path: string, value: unknown, schema: Schema | undefined][] {
  if (schema?.properties === undefined || typeof value !== 'object' || value === null) return [[path, value, schema]];
  return Object.entries(value).flatMap(([key, each]) => leaves(each, schema.properties?.[key], `${path}.${key}`));
}

function typeOf(value: unknown): string[] {
  if (Array.isArray(value)) return ['array'];
  if (value === null) return ['null'];
  if (typeof value === 'number') return Number.isInteger(value) ? ['integer', 'number'] : ['number'];
  return [typeof value];
}

function closedObjects(schema: Schema, path: string): string[] {
  const open = schema.properties !== undefined && schema.additionalProperties !== false ? [path] : [];
  return [
    ...open,
    ...Object.entries(schema.properties ?? {}).flatMap(([key, part]) => closedObjects(part, `${path}.${key}`)),
  ];
}

function paths(schema: Schema, path = ''): string[] {
  if (schema.properties === undefined) return [path];
  return Object.entries(schema.properties).flatMap(([key, part]) => paths(part, `${path}.${key}`));
}

describe('the values of the chart', () => {
  const schema = readSchema();
  const values = leaves(readValues(), schema, '');

  it('are all in the schema, and are what it allows', () => {
    const wrong = values.filter(([, value, part]) => {
      if (part === undefined) return true;
      const types = [part.type ?? []].flat();
      if (!typeOf(value).some((type) => types.includes(type))) return true;
      if (part.enum !== undefined && !part.enum.includes(value)) return true;
      if (typeof value === 'number') return value < (part.minimum ?? value) || value > (part.maximum ?? value);
      return typeof value === 'string' && part.pattern !== undefined && !new RegExp(part.pattern).test(value);
    });
    expect(wrong.map(([path]) => path)).toEqual([]);
  });

  it('have a default for everything that the schema knows', () => {
    const known = new Set(values.map(([path]) => path));
    expect(paths(schema).filter((path) => path !== '.global' && !known.has(path))).toEqual([]);
  });

  it('are refused by name where the schema does not know them', () => {
    expect(closedObjects(schema, '')).toEqual([]);
  });

  it('are each used by a template', () => {
    const all = [...templates.values()].join('\n');
    const unused = values.filter(
      ([path]) => !all.includes(`.${path.split('.').at(-1)}`) && !all.includes(`"${path.split('.').at(-1)}"`),
    );
    expect(unused.map(([path]) => path)).toEqual([]);
  });

  it('know every cloud that can be served', () => {
    const clouds = schema.properties?.clouds?.items?.enum ?? [];
    expect([...clouds].sort()).toEqual(CLOUD_MODULES.map(({ name }) => name).sort());
  });
});

describe('the options that templates set', () => {
  /** Read by Node itself. */
  const FOREIGN = new Set(['NODE_COMPILE_CACHE']);

  it.each([
    ['deployment.yaml', RUN],
    ['agent/daemonset.yaml', AGENT],
  ] as [string, Command][])('are all known to the command: %s', (path, { options }) => {
    const table = Object.values(options);
    const known = { env: new Set(table.map(({ env }) => env)), flags: new Set(table.map(({ flag }) => flag)) };
    const text = textOf(path);
    const variables = [...text.matchAll(/(?:\(list |- name: )"?([A-Z][A-Z0-9_]+)\b/g)].map((match) => match[1] ?? '');
    const flags = [...text.matchAll(/(?:- |")--([a-z-]+)=/g)].map((match) => match[1] ?? '');
    expect(variables.length).toBeGreaterThan(5);
    expect(variables.filter((name) => !known.env.has(name) && !FOREIGN.has(name))).toEqual([]);
    expect(flags.filter((flag) => !known.flags.has(flag))).toEqual([]);
  });
});

describe('the roles', () => {
  it.each(DEFINITIONS.map(({ spec }) => [spec.group, spec.names.plural]))('know %s %s', (group, plural) => {
    const text = textOf('clusterrole.yaml');
    const [controller = '', admin = ''] = text.split('# Administrators');
    for (const part of [controller, admin]) {
      const rules = part.split('- apiGroups: ').filter((rule) => rule.startsWith(`[${group}]`));
      expect(rules.some((rule) => new RegExp(`resources: \\[.*\\b${plural}\\b`).test(rule))).toBe(true);
    }
  });

  it('let nobody do everything', () => {
    for (const path of ['clusterrole.yaml', 'role.yaml', 'agent/rbac.yaml']) {
      expect(textOf(path)).not.toMatch(/verbs: \[.*\*|apiGroups: \[.*\*/);
    }
  });
});
