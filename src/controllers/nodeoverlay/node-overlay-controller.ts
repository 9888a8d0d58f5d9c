/** Sets the condition of each NodeOverlay: valid, or in conflict with another one. */
import { withConditions } from '../../apis/karpenter/condition-changes.ts';
import type { ConditionChange } from '../../apis/karpenter/conditions.ts';
import { NODE_OVERLAY_CONDITIONS, NODE_OVERLAYS, type NodeOverlay } from '../../apis/karpenter/node-overlay.ts';
import { keyOf } from '../../apis/kubernetes/object.ts';
import type { ReconcileContext, ReconcileResult } from '../../kube/controller.ts';
import { asError } from '../../platform/errors.ts';
import { overlaid, type SoldTypes } from '../../state/node-overlays.ts';
import type { ControllersOptions } from '../controllers-options.ts';
import { InformedController } from '../informed-controller.ts';

/** All overlays are checked together, under one key. */
const ALL = 'all';
/** Gathers changes that happen close together. */
const SETTLE_MS = 500;
/** Offerings change without an event. */
const PERIOD_MS = 10 * 60_000;

export class NodeOverlayController {
  readonly name = 'nodeoverlay';
  readonly #options: ControllersOptions;
  readonly #controller: InformedController;

  constructor(options: ControllersOptions) {
    this.#options = options;
    const { nodeOverlays, nodePools, nodeClasses } = options.state.informers;
    this.#controller = new InformedController(options, {
      name: this.name,
      concurrency: 1,
      listen: (queue) => {
        const soon = (): void => queue.add(ALL, { afterMs: SETTLE_MS });
        const heard = { added: soon, updated: soon, deleted: soon };
        return [nodeOverlays, nodePools, ...nodeClasses.values()].map((informer) => informer.addHandler(heard));
      },
      reconcile: (_, context) => this.#reconcile(context),
    });
  }

  /** Runs until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#controller.run(signal);
  }

  async #reconcile({ logger, signal }: ReconcileContext): Promise<ReconcileResult | undefined> {
    const { clouds, state } = this.#options;
    const overlays = state.informers.nodeOverlays.list();
    if (overlays.length === 0) return undefined;
    const sold: SoldTypes[] = [];
    for (const pool of state.informers.nodePools.list().filter((each) => clouds.isOurs(each))) {
      try {
        const types = await clouds.instanceTypes(pool.spec.template.spec.nodeClassRef, signal, pool.metadata.name);
        sold.push({ pool, types });
      } catch (error) {
        signal.throwIfAborted();
        logger.debug('NodePool skipped when checking NodeOverlays', { NodePool: keyOf(pool), error: asError(error) });
      }
    }
    const { conflicts } = overlaid(sold, overlays);
    for (const overlay of overlays) await this.#say(overlay, conflicts.get(overlay.metadata.name ?? ''), signal);
    return { requeueAfterMs: PERIOD_MS };
  }

  async #say(overlay: NodeOverlay, other: string | undefined, signal: AbortSignal): Promise<void> {
    const { client, clock } = this.#options;
    const type = 'ValidationSucceeded';
    const message = `NodeOverlay ${other} has the same weight and sets the same price or resource of an offering: give one of them another weight`;
    const change: ConditionChange =
      other === undefined ? { type, status: 'True' } : { type, status: 'False', reason: 'Conflict', message };
    const conditions = withConditions(NODE_OVERLAY_CONDITIONS, overlay, [change], clock.now());
    if (conditions === overlay.status?.conditions) return;
    const { uid, resourceVersion } = overlay.metadata;
    const body = { metadata: { uid, resourceVersion }, status: { conditions } };
    await client.patch(NODE_OVERLAYS, keyOf(overlay), { type: 'merge', body }, { signal, subresource: 'status' });
  }
}
