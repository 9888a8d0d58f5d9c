import type { CustomResourceDefinition } from '../src/apis/schema/custom-resource-definition.ts';
import type { JsonSchema } from '../src/apis/schema/json-schema.ts';

/** The reference of a kind: its fields with type, default and meaning. */
export function kindReference({ spec }: CustomResourceDefinition): string {
  const { group, names, scope, versions } = spec;
  return versions
    .map(({ name, schema }) => {
      const { description, properties = {} } = schema.openAPIV3Schema;
      const short = names.shortNames === undefined ? '' : `, short ${names.shortNames.map(code).join(', ')}`;
      const rows = ['spec', 'status'].flatMap((part) => fields(part, properties[part] ?? {}));
      const table = ['| field | type | default | meaning |', '|---|---|---|---|', ...rows].join('\n');
      return `## ${names.kind}\n\n${description}\n\n${code(`${group}/${name}`)}, ${scope.toLowerCase()}-scoped${short}.\n\n${table}\n`;
    })
    .join('\n');
}

function fields(path: string, schema: JsonSchema): string[] {
  const { properties = {}, required = [], items } = schema;
  if (items !== undefined) return fields(`${path}[]`, items);
  return Object.entries(properties).flatMap(([name, field]) => {
    // Fields that are known only to be refused are for the refusal to explain.
    if (hasRule(schema, `!has(self.${name})`)) return [];
    const { default: given, description = '' } = field;
    const isRequired = required.includes(name) || hasRule(schema, `has(self.${name})`);
    const needed = isRequired ? '**required**' : given === undefined ? '' : code(JSON.stringify(given));
    return [
      `| ${code(`${path}.${name}`)} | ${typeOf(field)} | ${needed} | ${cell(description)} |`,
      ...fields(`${path}.${name}`, field),
    ];
  });
}

function typeOf(schema: JsonSchema): string {
  if (schema['x-kubernetes-int-or-string']) return 'quantity';
  if (schema.items !== undefined) return `list of ${typeOf(schema.items)}`;
  if (schema.additionalProperties !== undefined) return `map to ${typeOf(schema.additionalProperties)}`;
  const words = schema.enum?.filter((word) => !hasRule(schema, `self != '${word}'`));
  return words?.map(code).join(', ') ?? schema.format ?? schema.type ?? '';
}

function hasRule(schema: JsonSchema, wanted: string): boolean {
  return schema['x-kubernetes-validations']?.some(({ rule }) => rule === wanted) ?? false;
}

function code(text: string): string {
  return `\`${text}\``;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
