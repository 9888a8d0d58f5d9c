import { keyOf, keyText } from '../../../apis/kubernetes/object.ts';
import { PODS, type Pod } from '../../../apis/kubernetes/pod.ts';
import type { ReconcileResult } from '../../../kube/controller.ts';
import { toTimestamp } from '../../../platform/clock.ts';
import { hasCode } from '../../../platform/errors.ts';
import { patchNewest } from '../../patch-newest.ts';
import type { ControllerOptions } from '../controller-options.ts';
import { withDisruptionTarget } from '../disruption-target.ts';
import { isTerminating } from '../pod-facts.ts';
import { ReconcileLoop } from '../reconcile-loop.ts';
import { evictionTime } from './eviction-time.ts';

/** Deletes pods from nodes whose NoExecute taints they do not, or no longer, tolerate. */
export class TaintEvictionController {
  readonly #options: ControllerOptions;
  readonly #loop: ReconcileLoop;

  constructor(options: ControllerOptions) {
    this.#options = options;
    const { informers } = options;
    this.#loop = new ReconcileLoop(options, {
      name: 'node.tainteviction',
      listen: (queue) => {
        const podsOn = (nodeName: string): void => {
          for (const pod of informers.pods.byIndex('node', nodeName)) queue.add(keyText(keyOf(pod)));
        };
        const podChanged = (pod: Pod): void => {
          if (this.#isTainted(pod.spec.nodeName)) queue.add(keyText(keyOf(pod)));
        };
        return [
          informers.nodes.addHandler({
            added: (node) => podsOn(node.metadata.name ?? ''),
            updated: (node, old) => {
              if (JSON.stringify(node.spec?.taints) !== JSON.stringify(old.spec?.taints))
                podsOn(node.metadata.name ?? '');
            },
          }),
          informers.pods.addHandler({ added: podChanged, updated: podChanged }),
        ];
      },
      reconcile: (key) => this.#reconcile(key),
    });
  }

  /** Runs until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#loop.run(signal);
  }

  #isTainted(nodeName: string | undefined): boolean {
    if (!nodeName) return false;
    return (
      this.#options.informers.nodes.get(nodeName)?.spec?.taints?.some(({ effect }) => effect === 'NoExecute') ?? false
    );
  }

  async #reconcile(key: string): Promise<ReconcileResult | undefined> {
    const { clock, informers } = this.#options;
    const pod = informers.pods.get(key);
    if (pod === undefined || isTerminating(pod) || !pod.spec.nodeName) return undefined;
    const at = evictionTime(informers.nodes.get(pod.spec.nodeName)?.spec?.taints, pod.spec.tolerations);
    if (at === undefined) return undefined;
    const wait = at - clock.now();
    if (wait > 0) return { requeueAfterMs: wait };
    await this.#evict(pod);
    return undefined;
  }

  async #evict(pod: Pod): Promise<void> {
    const { client, clock, recorder } = this.#options;
    const message = `Marking for deletion Pod ${keyText(keyOf(pod))}`;
    recorder.record({ object: pod, type: 'Normal', reason: 'TaintManagerEviction', message });
    const why = 'Taint manager: deleting due to NoExecute taint';
    const change = (newest: Pod): object => ({
      status: { conditions: withDisruptionTarget(newest, 'DeletionByTaintManager', why, toTimestamp(clock.now())) },
    });
    await patchNewest(client, PODS, pod, change, { subresource: 'status' });
    try {
      await client.delete(
        PODS,
        keyOf(pod),
        pod.metadata.uid === undefined ? {} : { preconditions: { uid: pod.metadata.uid } },
      );
    } catch (error) {
      if (!hasCode(error, 'KUBE_NOT_FOUND', 'KUBE_CONFLICT')) throw error;
    }
  }
}
