import type { KubeObject, Resource } from '../../../apis/kubernetes/object.ts';
import { keyOf } from '../../../apis/kubernetes/object.ts';
import type { ReconcileResult } from '../../../kube/controller.ts';
import { enqueueOn } from '../../../kube/enqueue.ts';
import { hasCode } from '../../../platform/errors.ts';
import type { ControllerOptions } from '../controller-options.ts';
import { ReconcileLoop } from '../reconcile-loop.ts';

export interface NamespaceControllerOptions extends ControllerOptions {
  /** All namespaced kinds at this moment. */
  readonly namespacedKinds: () => readonly Resource[];
  /** Tells the API server that the namespace is empty and can be removed. */
  readonly finalizeNamespace: (name: string) => Promise<void>;
}

/** How soon to check again for objects that take time to be removed. */
const LOOK_AGAIN_MS = 1_000;

/** Empties namespaces that are being deleted, then finalizes them. */
export class NamespaceController {
  readonly #options: NamespaceControllerOptions;
  readonly #loop: ReconcileLoop;

  constructor(options: NamespaceControllerOptions) {
    this.#options = options;
    this.#loop = new ReconcileLoop(options, {
      name: 'namespace',
      listen: (queue) => [enqueueOn(options.informers.namespaces, queue)],
      reconcile: (name) => this.#reconcile(name),
    });
  }

  /** Runs until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#loop.run(signal);
  }

  async #reconcile(name: string): Promise<ReconcileResult | undefined> {
    const namespace = this.#options.informers.namespaces.get(name);
    if (namespace?.metadata.deletionTimestamp === undefined) return undefined;
    let left = 0;
    for (const kind of this.#options.namespacedKinds()) left += await this.#empty(kind, name);
    if (left > 0) return { requeueAfterMs: LOOK_AGAIN_MS };
    await this.#options.finalizeNamespace(name);
    return undefined;
  }

  /** Deletes all objects of a kind, and returns how many still exist. */
  async #empty(kind: Resource, namespace: string): Promise<number> {
    const { client } = this.#options;
    const { items } = await client.list(kind, { namespace });
    for (const item of items) {
      if (item.metadata.deletionTimestamp === undefined) await this.#delete(kind, item);
    }
    return items.length === 0 ? 0 : (await client.list(kind, { namespace })).items.length;
  }

  async #delete(kind: Resource, object: KubeObject): Promise<void> {
    try {
      await this.#options.client.delete(kind, keyOf(object), { propagationPolicy: 'Background' });
    } catch (error) {
      if (!hasCode(error, 'KUBE_NOT_FOUND')) throw error;
    }
  }
}
