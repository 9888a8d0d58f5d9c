import { NODES } from '../../../apis/kubernetes/node.ts';
import { keyOf, keyText } from '../../../apis/kubernetes/object.ts';
import { PODS, type Pod } from '../../../apis/kubernetes/pod.ts';
import { toTimestamp } from '../../../platform/clock.ts';
import { hasCode } from '../../../platform/errors.ts';
import { patchNewest } from '../../patch-newest.ts';
import type { ControllerOptions } from '../controller-options.ts';
import { withDisruptionTarget } from '../disruption-target.ts';
import { isFinished } from '../pod-facts.ts';
import { ReconcileLoop } from '../reconcile-loop.ts';

/** How long a node must be missing before its pods are deleted; the node may have been recreated. */
const QUARANTINE_MS = 40_000;

/** Deletes pods whose node no longer exists, since no kubelet will. */
export class PodGcController {
  readonly #options: ControllerOptions;
  readonly #loop: ReconcileLoop;

  constructor(options: ControllerOptions) {
    this.#options = options;
    const { informers } = options;
    this.#loop = new ReconcileLoop(options, {
      name: 'pod.gc',
      listen: (queue) => [
        informers.nodes.addHandler({
          deleted: (node) => {
            for (const pod of informers.pods.byIndex('node', node.metadata.name ?? '')) {
              queue.add(keyText(keyOf(pod)), { afterMs: QUARANTINE_MS });
            }
          },
        }),
        informers.pods.addHandler({
          added: (pod) => this.#isOrphan(pod) && queue.add(keyText(keyOf(pod)), { afterMs: QUARANTINE_MS }),
          updated: (pod, old) => {
            if (!old.spec.nodeName && this.#isOrphan(pod)) queue.add(keyText(keyOf(pod)), { afterMs: QUARANTINE_MS });
          },
        }),
      ],
      reconcile: async (key) => {
        const pod = informers.pods.get(key);
        if (pod === undefined || !this.#isOrphan(pod)) return undefined;
        // The node may exist, and only its event is late.
        if (await this.#exists(pod.spec.nodeName ?? '')) return { requeueAfterMs: QUARANTINE_MS };
        await this.#remove(pod);
        return undefined;
      },
    });
  }

  /** Runs until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#loop.run(signal);
  }

  #isOrphan({ spec }: Pod): boolean {
    return Boolean(spec.nodeName) && this.#options.informers.nodes.get(spec.nodeName ?? '') === undefined;
  }

  async #exists(name: string): Promise<boolean> {
    try {
      await this.#options.client.get(NODES, { name });
      return true;
    } catch (error) {
      if (hasCode(error, 'KUBE_NOT_FOUND')) return false;
      throw error;
    }
  }

  async #remove(pod: Pod): Promise<void> {
    const { client, clock } = this.#options;
    if (!isFinished(pod)) {
      const change = (newest: Pod): object => {
        const conditions = withDisruptionTarget(
          newest,
          'DeletionByPodGC',
          'PodGC: node no longer exists',
          toTimestamp(clock.now()),
        );
        return { status: { phase: 'Failed', conditions } };
      };
      await patchNewest(client, PODS, pod, change, { subresource: 'status' });
    }
    try {
      await client.delete(PODS, keyOf(pod), { gracePeriodSeconds: 0 });
    } catch (error) {
      if (!hasCode(error, 'KUBE_NOT_FOUND')) throw error;
    }
  }
}
