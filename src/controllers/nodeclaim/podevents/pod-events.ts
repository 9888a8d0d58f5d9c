/** Writes on claims when a pod last came to their node or left it, which is what `consolidateAfter` counts from. */
import { isTrue } from '../../../apis/karpenter/conditions.ts';
import { NODE_CLAIMS } from '../../../apis/karpenter/node-claim.ts';
import type { Pod } from '../../../apis/kubernetes/pod.ts';
import type { ReconcileContext, ReconcileResult } from '../../../kube/controller.ts';
import { type EpochMs, parseTimestamp, toTimestamp } from '../../../platform/clock.ts';
import { BY_PROVIDER_ID } from '../../../state/cluster-informers.ts';
import type { ControllersOptions } from '../../controllers-options.ts';
import { InformedController } from '../../informed-controller.ts';
import { podEventTime, podGoneTime } from './pod-event-time.ts';

/** A claim is written so long after something came or went, once for all that did so meanwhile. */
const GATHER_MS = 10_000;

interface Unwritten {
  /** The latest event. */
  readonly at: EpochMs;
  /** When the claim is to be written. */
  readonly due: number;
}

export class PodEvents {
  readonly name = 'nodeclaim.podevents';
  readonly #options: ControllersOptions;
  readonly #controller: InformedController;
  /** By the name of the node. */
  readonly #unwritten = new Map<string, Unwritten>();

  constructor(options: ControllersOptions) {
    this.#options = options;
    const { clock, state } = options;
    this.#controller = new InformedController(options, {
      name: this.name,
      listen: (queue) => {
        const note = ({ spec }: Pod, at: EpochMs | undefined): void => {
          const node = spec.nodeName ?? '';
          const known = this.#unwritten.get(node);
          if (at === undefined || at <= (known?.at ?? 0)) return;
          const due = known?.due ?? clock.elapsed() + GATHER_MS;
          this.#unwritten.set(node, { at, due });
          if (known === undefined) queue.add(node);
        };
        return [
          state.informers.pods.addHandler({
            added: (pod) => note(pod, podEventTime(pod, undefined, clock.now())),
            updated: (pod, old) => note(pod, podEventTime(pod, old, clock.now())),
            deleted: (_, known) => note(known, podGoneTime(known, clock.now())),
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
    return this.#unwritten.get(node)?.at;
  }

  async #reconcile(node: string, { signal }: ReconcileContext): Promise<ReconcileResult | undefined> {
    const { clock, state, writes } = this.#options;
    const { nodes, nodeClaims } = state.informers;
    const unwritten = this.#unwritten.get(node);
    const [known] = nodeClaims.byIndex(BY_PROVIDER_ID, nodes.get(node)?.spec?.providerID ?? '');
    const claim = writes.newest(known);
    const before = parseTimestamp(claim?.status?.lastPodEventTime) ?? 0;
    // Times on claims are whole seconds.
    if (unwritten === undefined || claim === undefined || unwritten.at < before + 1000) {
      this.#unwritten.delete(node);
      return undefined;
    }
    const waitMs = unwritten.due - clock.elapsed();
    if (waitMs > 0) return { requeueAfterMs: waitMs };
    // While a node comes up its claim is written all the time, and in the end with this too.
    if (!isTrue(claim, 'Initialized')) return { requeueAfterMs: GATHER_MS };
    const status = { lastPodEventTime: toTimestamp(unwritten.at) };
    await writes.patch(NODE_CLAIMS, claim, { status }, { signal, subresource: 'status' });
    const { at } = this.#unwritten.get(node) ?? unwritten;
    if (at === unwritten.at) {
      this.#unwritten.delete(node);
      return undefined;
    }
    this.#unwritten.set(node, { at, due: clock.elapsed() + GATHER_MS });
    return { requeueAfterMs: GATHER_MS };
  }
}
