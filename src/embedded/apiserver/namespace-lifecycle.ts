/** How the state of a namespace affects the objects in it (kube-apiserver's NamespaceLifecycle admission). */
import type { KubeObject } from '../../apis/kubernetes/object.ts';
import type { Draft, Kind } from './kinds/kind.ts';
import { forbidden, notFound } from './status-errors.ts';
import { mustExist, type World } from './world.ts';
import { storeUpdate, type WriteRequest } from './writing.ts';

const NAMESPACE = { group: '', kind: 'Namespace', plural: 'namespaces' };

/** Namespaces every cluster has; they cannot be deleted. */
export const PERMANENT_NAMESPACES: readonly string[] = ['default', 'kube-system', 'kube-public'];

/** Refuses a new object in a namespace that does not exist or is being deleted. */
export function checkNamespaceTakesContent(world: World, kind: Kind, namespace: string, name: string): void {
  if (namespace === '') return;
  const found = world.store.get('namespaces', namespace) as Draft | undefined;
  if (found === undefined) throw notFound(NAMESPACE, namespace);
  if (found.metadata.deletionTimestamp === undefined) return;
  throw forbidden(kind, name, `unable to create new content in namespace ${namespace} because it is being terminated`, [
    {
      reason: 'NamespaceTerminating',
      message: `namespace ${namespace} is being terminated`,
      field: 'metadata.namespace',
    },
  ]);
}

/** Writes `spec.finalizers` and nothing else. */
export function finalizeNamespace(
  world: World,
  name: string,
  finalizers: readonly string[],
  request: WriteRequest,
): KubeObject {
  const kind = world.kinds.get({ group: '', version: 'v1', plural: 'namespaces' });
  const stored = mustExist(world, kind, { name });
  const changed = { ...stored, spec: { ...stored.spec, finalizers } };
  return storeUpdate(world, kind, { name }, stored, changed, request.dryRun === true);
}
