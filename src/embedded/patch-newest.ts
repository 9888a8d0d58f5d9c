import { type KubeObject, keyOf, type Resource } from '../apis/kubernetes/object.ts';
import type { KubeClient, SubresourceOptions, WriteOptions } from '../kube/client.ts';
import { hasCode } from '../platform/errors.ts';

const MOST_TRIES = 5;

/**
 * Applies the merge patch that `change` returns. If another client wrote meanwhile, the object is read again and the
 * change recalculated, so that no write is lost. Writes nothing and returns undefined if there is nothing to change, or
 * if the object is gone or replaced by another one of the same name.
 */
export async function patchNewest<T extends KubeObject>(
  client: KubeClient,
  kind: Resource<T>,
  known: T,
  change: (object: T) => object | undefined,
  options: WriteOptions & SubresourceOptions = {},
): Promise<T | undefined> {
  let object = known;
  for (let tries = 1; ; tries++) {
    const changes = change(object) as { readonly metadata?: object } | undefined;
    if (changes === undefined) return undefined;
    const { resourceVersion } = object.metadata;
    const body = { ...changes, metadata: { ...changes.metadata, resourceVersion } };
    try {
      return await client.patch(kind, keyOf(object), { type: 'merge', body }, options);
    } catch (error) {
      if (hasCode(error, 'KUBE_NOT_FOUND')) return undefined;
      if (!hasCode(error, 'KUBE_CONFLICT') || tries === MOST_TRIES) throw error;
    }
    try {
      object = await client.get(kind, keyOf(object), options.signal === undefined ? {} : { signal: options.signal });
    } catch (error) {
      if (hasCode(error, 'KUBE_NOT_FOUND')) return undefined;
      throw error;
    }
    if (object.metadata.uid !== known.metadata.uid) return undefined;
  }
}
