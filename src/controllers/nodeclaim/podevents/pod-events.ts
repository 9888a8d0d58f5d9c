/** Writes `lastPodEventTime` on claims: `consolidateAfter` counts from it. */
import { isTrue } from '../../../apis/karpenter/conditions.ts';
import { NODE_CLAIMS, type NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import type { Pod } from '../../../apis/kubernetes/pod.ts';
import type { ReconcileContext, ReconcileResult } from '../../../kube/controller.ts';
import { type EpochMs, parseTimestamp, toTimestamp } from '../../../platform/clock.ts';
import { BY_PROVIDER_ID } from '../../../state/cluster-informers.ts';
import type { ControllersOptions } from '../../controllers-options.ts';
import { InformedController } from '../../informed-controller.ts';
import { podEventTime, podGoneTime } from './pod-event-time.ts';

/** The delay of a write, which then covers all events in between. */
const GATHER_MS = 10_000;
/** How often the cache is checked for what was written. */
const SHOWN_MS = 1000;

/** An event that the claim in the cache does not show yet. */
interface Untold {
  /** The latest event. */
  readonly at: EpochMs;
  /** When the claim is due to be written. */
  readonly due: number;
}

export class PodEvents {
  readonly name = 'nodeclaim.podevents';
  readonly #options: ControllersOptions;
  readonly #controller: InformedController;
  /** By the name of the node. */
  readonly #untold = new Map<string, Untold>();

  constructor(options: ControllersOptions) {
    this.#options = options;
    const { clock, state } = options;
    this.#controller = new InformedController(options, {
      name: this.name,
      listen: (queue) => {
        const note = ({ spec }: Pod, at: EpochMs | undefined): void => {
          const node = spec.nodeName ?? '';
          const known = this.#untold.get(node);
          if (at === undefined || at <= (known?.at ?? 0)) return;
          const due = known?.due ?? clock.elapsed() + GATHER_MS;
          this.#untold.set(node, { at, due });
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

  /** The latest event on a node that its claim in the cache does not show yet, because claims are written with a delay. */
  latest(node: string): EpochMs | undefined {
    return this.#untold.get(node)?.at;
  }

  async #reconcile(node: string, { signal }: ReconcileContext): Promise<ReconcileResult | undefined> {
    const { clock, clouds, state, writes } = this.#options;
    const { nodes, nodeClaims } = state.informers;
    const untold = this.#untold.get(node);
    const [known] = nodeClaims.byIndex(BY_PROVIDER_ID, nodes.get(node)?.spec?.providerID ?? '');
    if (untold === undefined || known === undefined || !clouds.isOurs(known) || tells(known, untold.at)) {
      this.#untold.delete(node);
      return undefined;
    }
    const claim = writes.newest(known);
    // Controllers that read the cache need `latest` until it shows the write.
    if (tells(claim, untold.at)) return { requeueAfterMs: SHOWN_MS };
    const waitMs = untold.due - clock.elapsed();
    if (waitMs > 0) return { requeueAfterMs: waitMs };
    // The lifecycle writes the time together with Initialized.
    if (!isTrue(claim, 'Initialized')) return { requeueAfterMs: GATHER_MS };
    const status = { lastPodEventTime: toTimestamp(untold.at) };
    await writes.patch(NODE_CLAIMS, claim, { status }, { signal, subresource: 'status' });
    const { at } = this.#untold.get(node) ?? untold;
    this.#untold.set(node, { at, due: clock.elapsed() + GATHER_MS });
    return { requeueAfterMs: SHOWN_MS };
  }
}

/** Whether the claim shows an event of that time or later; times on claims are whole seconds. */
function tells({ status }: NodeClaim, at: EpochMs): boolean {
  return at < (parseTimestamp(status?.lastPodEventTime) ?? 0) + 1000;
}
