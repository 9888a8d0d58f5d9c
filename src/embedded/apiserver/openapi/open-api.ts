/** OpenAPI v3 documents, which kubectl reads for apply, patch and explain. */
import { createHash } from 'node:crypto';
import type { Schema } from '../schema/schema.ts';
import { ComponentSchemas, type GroupVersionKind, type OpenApiObject } from './component-schemas.ts';

/** A kind as OpenAPI needs it. */
export interface OpenApiKind {
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** Without a schema, the kind is shown as an object with unknown fields. */
  readonly schema?: Schema;
  /** Built-in kinds accept strategic merge patches; custom resources do not. */
  readonly strategicMergePatch: boolean;
  /** `status`, `scale`. */
  readonly subresources: readonly string[];
}

/** The document of one group version: served at `/openapi/v3/api/v1`, `/openapi/v3/apis/apps/v1`. */
export function openApiDocument(
  groupVersion: { readonly group: string; readonly version: string },
  kinds: readonly OpenApiKind[],
): OpenApiObject {
  const { group, version } = groupVersion;
  const components = new ComponentSchemas();
  const paths: Record<string, OpenApiObject> = {};
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  for (const kind of kinds) {
    const gvk = { group, version, kind: kind.kind };
    const schema = components.addKind(gvk, kind.schema);
    const collection = `${root}${kind.namespaced ? '/namespaces/{namespace}' : ''}/${kind.plural}`;
    const item = itemOperations(gvk, schema, kind);
    paths[collection] = { get: operation('list', gvk, schema), post: write('post', gvk, schema) };
    paths[`${collection}/{name}`] = { ...item, delete: operation('delete', gvk, schema) };
    for (const name of kind.subresources) paths[`${collection}/{name}/${name}`] = item;
    if (kind.namespaced) paths[`${root}/${kind.plural}`] = { get: operation('list', gvk, schema) };
  }
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'embedded' },
    paths,
    components: { schemas: components.schemas },
  };
}

/** The index at `/openapi/v3`: for each path (`api/v1`, `apis/apps/v1`) the URL with the hash of its document's bytes. */
export function openApiIndex(documents: ReadonlyMap<string, Uint8Array>): OpenApiObject {
  const paths: OpenApiObject = {};
  for (const [path, bytes] of documents) {
    const hash = createHash('sha512').update(bytes).digest('hex').toUpperCase();
    paths[path] = { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` };
  }
  return { paths };
}

const PATCHES = ['application/apply-patch+yaml', 'application/json-patch+json', 'application/merge-patch+json'];
const STRATEGIC = 'application/strategic-merge-patch+json';
const WRITE_PARAMETERS = ['dryRun', 'fieldManager', 'fieldValidation'].map((name) => query(name, 'string'));

function query(name: string, type: string): OpenApiObject {
  return { name, in: 'query', schema: { type, uniqueItems: true } };
}

/** kubectl expects the group-version-kind of an operation as one object, and that of a schema as a list. */
function operation(action: string, gvk: GroupVersionKind, schema: OpenApiObject): OpenApiObject {
  return {
    responses: { 200: { description: 'OK', content: { 'application/json': { schema } } } },
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': { ...gvk },
  };
}

function write(action: string, gvk: GroupVersionKind, schema: OpenApiObject): OpenApiObject {
  const requestBody = { required: true, content: { '*/*': { schema } } };
  return { ...operation(action, gvk, schema), parameters: WRITE_PARAMETERS, requestBody };
}

function itemOperations(gvk: GroupVersionKind, schema: OpenApiObject, kind: OpenApiKind): OpenApiObject {
  const types = kind.strategicMergePatch ? [...PATCHES, STRATEGIC] : PATCHES;
  const patch = {
    ...operation('patch', gvk, schema),
    parameters: [...WRITE_PARAMETERS, query('force', 'boolean')],
    requestBody: { required: true, content: Object.fromEntries(types.map((type) => [type, { schema: {} }])) },
  };
  return { get: operation('get', gvk, schema), put: write('put', gvk, schema), patch };
}
