/** Parses the path of a URL: the grammar that all resources share, and a few fixed paths. */

/** Everything that a path can refer to. */
export type RequestPath =
  | { readonly type: 'resource'; readonly resource: ResourcePath }
  | { readonly type: 'group-versions'; readonly prefix: 'api' | 'apis' }
  | { readonly type: 'group'; readonly group: string }
  | { readonly type: 'group-version'; readonly group: string; readonly version: string }
  | { readonly type: 'version' }
  | { readonly type: 'health'; readonly check: string }
  | { readonly type: 'open-api'; readonly path: string }
  | { readonly type: 'open-api-v2' }
  | { readonly type: 'paths' }
  | { readonly type: 'unknown' };

/** A resource, one of its objects, or a subresource of an object. */
export interface ResourcePath {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
}

const HEALTH = /^\/(healthz|livez|readyz)(\/.*)?$/;

/** Reads the path of a URL, without its query. */
export function parsePath(path: string): RequestPath {
  const parts = decoded(path);
  if (parts === undefined) return { type: 'unknown' };
  const [root, ...rest] = parts;
  if (root === undefined) return { type: 'paths' };
  if (HEALTH.test(path)) return { type: 'health', check: root };
  if (path === '/version' || path === '/version/') return { type: 'version' };
  if (path === '/openapi/v2') return { type: 'open-api-v2' };
  if (root === 'openapi' && rest[0] === 'v3') return { type: 'open-api', path: rest.slice(1).join('/') };
  if (root === 'api') {
    if (rest.length === 0) return { type: 'group-versions', prefix: 'api' };
    return inGroupVersion('', rest);
  }
  if (root === 'apis') {
    const [group, ...inGroup] = rest;
    if (group === undefined) return { type: 'group-versions', prefix: 'apis' };
    if (inGroup.length === 0) return { type: 'group', group };
    return inGroupVersion(group, inGroup);
  }
  return { type: 'unknown' };
}

function decoded(path: string): string[] | undefined {
  try {
    return path
      .split('/')
      .filter((part) => part !== '')
      .map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

function inGroupVersion(group: string, parts: readonly string[]): RequestPath {
  const [version = '', ...rest] = parts;
  const [plural, ...more] = rest;
  if (plural === undefined) return { type: 'group-version', group, version };
  // `namespaces/<name>/<plural>` refers to resources in a namespace. Shorter paths, and subresources of a namespace,
  // refer to the Namespace itself.
  const inNamespace = plural === 'namespaces' && more.length >= 2 && !isNamespacePart(more[1] as string, more.length);
  const resource = inNamespace
    ? resourcePath({ group, version, plural: more[1] as string, namespace: more[0] as string }, more.slice(2))
    : resourcePath({ group, version, plural }, more);
  return resource === undefined ? { type: 'unknown' } : { type: 'resource', resource };
}

function isNamespacePart(part: string, length: number): boolean {
  return length === 2 && (part === 'status' || part === 'finalize');
}

function resourcePath(base: ResourcePath, rest: readonly string[]): ResourcePath | undefined {
  const [name, subresource, ...more] = rest;
  if (more.length > 0) return undefined;
  if (name === undefined) return base;
  return subresource === undefined ? { ...base, name } : { ...base, name, subresource };
}
