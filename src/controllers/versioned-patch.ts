import { type KubeObject, keyOf, type Resource } from '../apis/kubernetes/object.ts';
import type { KubeClient, SubresourceOptions, WriteOptions } from '../kube/client.ts';

interface PatchBody {
  readonly metadata?: object;
  readonly spec?: object;
  readonly status?: object;
}

/**
 * Merges into an object, if it still is the one we decided on: lists such as conditions, taints and finalizers are written
 * whole, and nobody else's write may be lost. KUBE_CONFLICT when it is not; then look again and decide again.
 */
export function versionedPatch<T extends KubeObject>(
  client: KubeClient,
  kind: Resource<T>,
  object: T,
  body: PatchBody,
  options: WriteOptions & SubresourceOptions,
): Promise<T> {
  const { uid, resourceVersion } = object.metadata;
  return client.patch(
    kind,
    keyOf(object),
    { type: 'merge', body: { ...body, metadata: { ...body.metadata, uid, resourceVersion } } },
    options,
  );
}
