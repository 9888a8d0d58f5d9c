/**
 * Writes the tables of Kubernetes' own types (src/embedded/apiserver/schema/builtin/tables): for every field its name,
 * protobuf number, type, and how lists of it are merged. Facts only: no prose of Kubernetes is taken over.
 *
 *     go mod download k8s.io/kubernetes@v1.36.3 k8s.io/api@v0.36.3 ...
 *     node scripts/kubernetes-types.ts $(go env GOMODCACHE)/k8s.io 1.36.3
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [modules = '', release = ''] = process.argv.slice(2);
if (modules === '' || release === '') {
  console.error('usage: node scripts/kubernetes-types.ts <folder of the k8s.io modules> <release, for example 1.36.3>');
  process.exit(1);
}
const library = `v0.${release.split('.').slice(1).join('.')}`;
const out = join(dirname(dirname(fileURLToPath(import.meta.url))), 'src/embedded/apiserver/schema/builtin/tables');

/** Table name → folder of its generated.proto, package in OpenAPI. The API group is in the kinds' own annotation. */
const SOURCES: readonly (readonly [table: string, folder: string, openApi: string])[] = [
  ['meta-v1', `apimachinery@${library}/pkg/apis/meta/v1`, 'io.k8s.apimachinery.pkg.apis.meta.v1'],
  ...['admissionregistration', 'apps', 'authentication', 'authorization', 'autoscaling', 'batch', 'certificates']
    .concat(['coordination', 'core', 'discovery', 'events', 'networking', 'node', 'policy', 'rbac', 'resource'])
    .concat(['scheduling', 'storage'])
    .map((name) => [`${name}-v1`, `api@${library}/${name}/v1`, `io.k8s.api.${name}.v1`] as const),
  ['autoscaling-v2', `api@${library}/autoscaling/v2`, 'io.k8s.api.autoscaling.v2'],
  [
    'apiextensions-v1',
    `apiextensions-apiserver@${library}/pkg/apis/apiextensions/v1`,
    'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1',
  ],
  [
    'apiregistration-v1',
    `kube-aggregator@${library}/pkg/apis/apiregistration/v1`,
    'io.k8s.kube-aggregator.pkg.apis.apiregistration.v1',
  ],
];

/** Types whose JSON is not what their protobuf message looks like; the code knows them by these names. */
const SPECIAL: Readonly<Record<string, string>> = {
  'k8s.io.apimachinery.pkg.api.resource.Quantity': 'quantity',
  'k8s.io.apimachinery.pkg.util.intstr.IntOrString': 'intOrString',
  'k8s.io.apimachinery.pkg.runtime.RawExtension': 'rawExtension',
  'k8s.io.apimachinery.pkg.apis.meta.v1.Time': 'time',
  'k8s.io.apimachinery.pkg.apis.meta.v1.MicroTime': 'microTime',
  'k8s.io.apimachinery.pkg.apis.meta.v1.FieldsV1': 'fieldsV1',
  'k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.JSON': 'json',
  'k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray': 'schemaOrArray',
  'k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool': 'schemaOrBool',
  'k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray': 'schemaOrStrings',
};

interface Field {
  readonly name: string;
  readonly number: number;
  readonly type: string;
  readonly form: 'one' | 'list' | 'map';
  /** A pointer in Go: it can be set to zero on purpose, where others are simply not set then. */
  readonly pointer: boolean;
}

interface Property {
  readonly [extension: string]: unknown;
  readonly items?: Property;
}

interface Definition extends Property {
  readonly properties?: Readonly<Record<string, Property>>;
  readonly required?: readonly string[];
  readonly 'x-kubernetes-group-version-kind'?: readonly { group: string; version: string; kind: string }[];
}

const swagger = JSON.parse(
  readFileSync(join(modules, `kubernetes@v${release}/api/openapi-spec/swagger.json`), 'utf8'),
) as { definitions: Record<string, Definition> };

/** Protobuf package → the table it goes to and its messages. */
const packages = new Map<string, { table: string; openApi: string; messages: Map<string, Field[]> }>();

for (const [table, folder, openApi] of SOURCES) {
  const text = readFileSync(join(modules, folder, 'generated.proto'), 'utf8').replace(/\/\/[^\n]*/g, '');
  const name = /^package (\S+);/m.exec(text)?.[1] as string;
  const messages = new Map<string, Field[]>();
  const pointers = pointersIn(join(modules, folder));
  for (const [, message = '', body = ''] of text.matchAll(/^message (\w+) \{([^}]*)\}/gm)) {
    const fields = [...body.matchAll(/(?:(optional|repeated) ([\w.]+)|map<string, ([\w.]+)>) (\w+) = (\d+);/g)];
    messages.set(
      message,
      fields.map(([, label, plain = '', mapped = '', field = '', number]) => ({
        name: field,
        number: Number(number),
        type: plain || mapped,
        form: label === undefined ? 'map' : label === 'repeated' ? 'list' : 'one',
        pointer: pointers.has(`${message}.${field}`),
      })),
    );
  }
  packages.set(name, { table, openApi, messages });
}

/** `Struct.protobufName` of the fields of a Go package that are pointers. */
function pointersIn(folder: string): Set<string> {
  const found = new Set<string>();
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.go') && !name.includes('generated'))) {
    let struct = '';
    for (const line of readFileSync(join(folder, file), 'utf8').split('\n')) {
      struct = /^type (\w+) struct \{/.exec(line)?.[1] ?? struct;
      const name = /^\s+\w+\s+\*.*protobuf:"[^"]*\bname=(\w+)/.exec(line)?.[1];
      if (name !== undefined) found.add(`${struct}.${name}`);
    }
  }
  return found;
}

/** `.k8s.io.api.core.v1.PodSpec` or `PodSpec` as seen from a package → package and message. */
function resolve(type: string, from: string): readonly [packageName: string, message: string] {
  if (!type.startsWith('.')) return [from, type];
  const dot = type.lastIndexOf('.');
  return [type.slice(1, dot), type.slice(dot + 1)];
}

function definitionOf(packageName: string, message: string): Definition | undefined {
  return swagger.definitions[`${packages.get(packageName)?.openApi}.${message}`];
}

const SCALARS = new Set(['string', 'bool', 'int32', 'int64', 'double', 'bytes']);

function typeName(field: Field, from: string): string {
  if (SCALARS.has(field.type)) return field.type;
  const [packageName, message] = resolve(field.type, from);
  const special = SPECIAL[`${packageName}.${message}`];
  if (special !== undefined) return special;
  const target = packages.get(packageName);
  if (target === undefined) throw new Error(`${from} refers to ${packageName}, which is not among the sources`);
  return packageName === from ? message : `${target.table}/${message}`;
}

/** How a list or map is merged: `atomic`, `set`, `map=key,key`; then strategic merge patch: `merge`, `merge=key`, `retainKeys`. */
function flags(property: Property | undefined): string[] {
  if (property === undefined) return [];
  const words: string[] = [];
  const listType = property['x-kubernetes-list-type'];
  const keys = property['x-kubernetes-list-map-keys'] as readonly string[] | undefined;
  if (listType === 'map') words.push(`map=${keys?.join(',')}`);
  else if (listType !== undefined) words.push(String(listType));
  if (property['x-kubernetes-map-type'] === 'atomic') words.push('atomic');
  const strategy = property['x-kubernetes-patch-strategy'] as string | undefined;
  const mergeKey = property['x-kubernetes-patch-merge-key'] as string | undefined;
  for (const word of strategy?.split(',') ?? []) words.push(word === 'merge' && mergeKey ? `merge=${mergeKey}` : word);
  return words;
}

/** Messages that stand inline in others have no definition of their own: then the one they stand in describes their fields. */
const inlinedIn = new Map<string, Definition>();

function fieldText(inProto: Field, packageName: string, definition: Definition | undefined): string {
  // Names of protobuf have no `$` and no dashes, and a few differ in their capitals; JSON decides.
  const names = Object.keys(definition?.properties ?? {});
  const jsonName = names.find((name) => name.replace(/[$-]/g, '').toLowerCase() === inProto.name.toLowerCase());
  const field = { ...inProto, name: jsonName ?? inProto.name };
  const property = definition?.properties?.[field.name];
  const type = typeName(field, packageName);
  if (definition !== undefined && property === undefined) {
    const [innerPackage, inner] = resolve(field.type, packageName);
    if (packages.get(innerPackage)?.messages.has(inner) !== true) {
      throw new Error(`${packageName}: ${field.name} is in protobuf, but not in JSON`);
    }
    inlinedIn.set(`${innerPackage}.${inner}`, definition);
    return `... ${field.number} ${type}`;
  }
  const required = definition?.required?.includes(field.name) ? '!' : '';
  const form =
    field.form === 'list' ? `[${type}]` : field.form === 'map' ? `{${type}}` : `${field.pointer ? '*' : ''}${type}`;
  return [`${field.name}${required}`, field.number, form, ...flags(property)].join(' ');
}

/** Only what a kind that clients write can reach is kept; lists, watch events and options are not. */
function reachable(): Set<string> {
  const seen = new Set<string>();
  const visit = (packageName: string, message: string): void => {
    const key = `${packageName}.${message}`;
    if (seen.has(key) || SPECIAL[key] !== undefined) return;
    seen.add(key);
    for (const field of packages.get(packageName)?.messages.get(message) ?? []) {
      if (!SCALARS.has(field.type)) visit(...resolve(field.type, packageName));
    }
  };
  for (const [packageName, { messages, openApi }] of packages) {
    for (const message of messages.keys()) {
      if (message.endsWith('List') && messages.has(message.slice(0, -4))) continue;
      const kinds = swagger.definitions[`${openApi}.${message}`]?.['x-kubernetes-group-version-kind'];
      if (kinds !== undefined && message !== 'WatchEvent') visit(packageName, message);
    }
  }
  const apiextensions = 'k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1';
  visit(apiextensions, 'JSONSchemaProps');
  return seen;
}

const kept = reachable();

function messageText(packageName: string, message: string, fields: readonly Field[]): string {
  const own = definitionOf(packageName, message);
  const definition = own ?? inlinedIn.get(`${packageName}.${message}`);
  if (definition === undefined && fields.length === 1 && fields[0]?.name === 'items') {
    return `${message} = [${typeName(fields[0], packageName)}]`;
  }
  const kind = own?.['x-kubernetes-group-version-kind']?.[0];
  const typed = own?.properties?.kind !== undefined && !fields.some((field) => field.name === 'kind');
  const words = [message];
  if (typed) words.push('typed');
  if (kind !== undefined && packages.get(packageName)?.table !== 'meta-v1') words.push('kind');
  if (own?.['x-kubernetes-map-type'] === 'atomic') words.push('atomic');
  const texts = fields.map((field) => fieldText(field, packageName, definition)).sort();
  return `${words.join(' ')}: ${texts.join('; ')}`;
}

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });

// Twice: the first pass finds out which messages stand inline in which.
for (const write of [false, true]) {
  for (const [packageName, { table, openApi, messages }] of packages) {
    const group = swaggerGroup(openApi);
    const lines = [...messages]
      .filter(([message]) => kept.has(`${packageName}.${message}`))
      .map(([message, fields]) => messageText(packageName, message, fields));
    if (!write) continue;
    const name = `${table.replace(/-./g, (match) => (match[1] as string).toUpperCase())}`;
    writeFileSync(
      join(out, `${table}.ts`),
      `// Generated by scripts/kubernetes-types.ts from Kubernetes ${release}; do not edit. The format is in ../type-table.ts.\n` +
        `import type { TypeTable } from '../type-table.ts';\n\nexport const ${name}: TypeTable = {\n  table: '${table}',\n` +
        `  group: '${group}',\n  version: '${table.split('-').at(-1)}',\n  openApi: '${openApi}',\n  types: \`\n${lines.join('\n')}\n\`,\n};\n`,
    );
  }
}

function swaggerGroup(openApi: string): string {
  if (openApi.includes('.meta.')) return '';
  const kinds = Object.entries(swagger.definitions)
    .filter(([name]) => name.startsWith(`${openApi}.`))
    .flatMap(([, definition]) => definition['x-kubernetes-group-version-kind'] ?? []);
  // A shared kind such as DeleteOptions would list many groups; the first kind of a package is its own.
  return kinds[0]?.group ?? '';
}
