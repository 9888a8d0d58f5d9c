import type { KubeObject, Resource } from '../../apis/kubernetes/object.ts';
import type { KubeClient } from '../../kube/client.ts';
import { canonicalJson } from './canonical-json.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Writes a status that was calculated from the object as it was read. Fields that are missing are removed; nothing is
 * written if nothing changed. Throws KUBE_CONFLICT if the object changed meanwhile; then the status must be
 * recalculated.
 */
export async function writeStatus<T extends KubeObject & { readonly status?: object }>(
  client: KubeClient,
  kind: Resource<T>,
  object: T,
  status: Fields,
): Promise<boolean> {
  const changed = mergeDifference((object.status ?? {}) as Fields, status);
  if (Object.keys(changed).length === 0) return false;
  const { name = '', namespace, resourceVersion } = object.metadata;
  const body = { metadata: { resourceVersion }, status: changed };
  const key = namespace === undefined ? { name } : { name, namespace };
  await client.patch(kind, key, { type: 'merge', body }, { subresource: 'status' });
  return true;
}

/** The merge patch from one object to another: new and changed fields, and null for removed ones. */
export function mergeDifference(old: Fields, fresh: Fields): Record<string, unknown> {
  const changed: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(fresh)) {
    const before = old[field];
    if (isFields(before) && isFields(value)) {
      const inner = mergeDifference(before, value);
      if (Object.keys(inner).length > 0) changed[field] = inner;
    } else if (canonicalJson(before) !== canonicalJson(value)) changed[field] = value ?? null;
  }
  for (const field of Object.keys(old)) if (!Object.hasOwn(fresh, field)) changed[field] = null;
  return changed;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A count as a status shows it: zero is left out. */
export function unlessZero(count: number): number | undefined {
  return count === 0 ? undefined : count;
}

/** The fields that have a value. */
export function compact(fields: Fields): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
