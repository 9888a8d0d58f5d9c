/** What the state of a namespace means for the objects in it (the NamespaceLifecycle admission of kube-apiserver). */
import type { Draft, Kind } from './kinds/kind.ts';
import { forbidden, notFound } from './status-errors.ts';
import type { World } from './world.ts';

const NAMESPACE = { group: '', kind: 'Namespace', plural: 'namespaces' };

/** Namespaces every cluster has; they cannot be deleted. */
export const PERMANENT_NAMESPACES: readonly string[] = ['default', 'kube-system', 'kube-public'];

/** Refuses a new object in a namespace that is not there or is about to go. */
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
