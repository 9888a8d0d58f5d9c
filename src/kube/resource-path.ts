import type { ObjectKey, Resource } from '../apis/kubernetes/object.ts';

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** The URL path of a kind, an object, or a subresource. */
export function resourcePath(
  kind: Resource,
  where: { namespace?: string; name?: string; subresource?: string } = {},
): string {
  const root = kind.group === '' ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
  const parts = [root];
  if (kind.namespaced && where.namespace !== undefined) parts.push('namespaces', encodeURIComponent(where.namespace));
  parts.push(kind.plural);
  if (where.name !== undefined) parts.push(encodeURIComponent(where.name));
  if (where.subresource !== undefined) parts.push(where.subresource);
  return parts.join('/');
}

/** The path of one object; throws for an empty name, which would address the whole collection. */
export function objectPath(kind: Resource, key: ObjectKey, subresource?: string): string {
  if (key.name === '') throw new RangeError(`a ${kind.kind} needs a name`);
  if (kind.namespaced && (key.namespace ?? '') === '') {
    throw new RangeError(`the ${kind.kind} ${key.name} needs a namespace`);
  }
  return resourcePath(kind, { ...key, ...(subresource === undefined ? {} : { subresource }) });
}

/** `?a=1&b=x`, without undefined values; empty when there are none. */
export function queryString(query: Query): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}
