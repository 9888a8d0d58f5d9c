/** Writes on claims when a pod last came to their node or left it, which is what `consolidateAfter` counts from. */
import { NODE_CLAIMS } from '../../../apis/karpenter/node-claim.ts';
import type { Pod } from '../../../apis/kubernetes/pod.ts';
import type { ReconcileContext, ReconcileResult } from '../../../kube/controller.ts';
import { type EpochMs, parseTimestamp, toTimestamp } from '../../../platform/clock.ts';
import { BY_PROVIDER_ID } from '../../../state/cluster-informers.ts';
import type { ControllersOptions } from '../../controllers-options.ts';
import { InformedController } from '../../informed-controller.ts';
import { podEventTime, podGoneTime } from './pod-event-time.ts';

/** A claim is written at most so often, however much comes and goes. */
const QUIET_MS = 10_000;

export class PodEvents {
  readonly name = 'nodeclaim.podevents';
  readonly #options: ControllersOptions;
  readonly #controller: InformedController;
  /** The latest event that is not written yet, by the name of the node. */
  readonly #latest = new Map<string, EpochMs>();

  constructor(options: ControllersOptions) {
    this.#options = options;
    const { clock, state } = options;
    this.#controller = new InformedController(options, {
      name: this.name,
      listen: (queue) => {
        const note = ({ spec }: Pod, at: EpochMs | undefined): void => {
          const node = spec.nodeName ?? '';
          if (at === undefined || at <= (this.#latest.get(node) ?? 0)) return;
          this.#latest.set(node, at);
          queue.add(node);
        };
        return [
          state.informers.pods.addHandler({
            added: (pod) => note(pod, podEventTime(pod, undefined, clock.now())),
            updated: (pod, old) => note(pod, podEventTime(pod, old, clock.now())),
            deleted: (pod) => note(pod, podGoneTime(pod, clock.now())),
          }),
        ];
      },
      reconcile: (node, context) => this.#reconcile(node, context),
    });
  }

  /** Runs until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#controller.run(signal);
  }

  /** The latest event on a node that its claim does not tell of yet: claims are written a while after, and many at a time take longer. */
  latest(node: string): EpochMs | undefined {
    return this.#latest.get(node);
  }

  async #reconcile(node: string, { signal }: ReconcileContext): Promise<ReconcileResult | undefined> {
    const { clock, state, writes } = this.#options;
    const { nodes, nodeClaims } = state.informers;
    const at = this.#latest.get(node);
    const [known] = nodeClaims.byIndex(BY_PROVIDER_ID, nodes.get(node)?.spec?.providerID ?? '');
    const claim = writes.newest(known);
    const before = parseTimestamp(claim?.status?.lastPodEventTime) ?? 0;
    // Times on claims are whole seconds.
    if (at === undefined || claim === undefined || at < before + 1000) {
      this.#latest.delete(node);
      return undefined;
    }
    const quietMs = before + QUIET_MS - clock.now();
    if (quietMs > 0) return { requeueAfterMs: quietMs };
    const status = { lastPodEventTime: toTimestamp(at) };
    await writes.patch(NODE_CLAIMS, claim, { status }, { signal, subresource: 'status' });
    if (this.#latest.get(node) === at) this.#latest.delete(node);
    return undefined;
  }
}
