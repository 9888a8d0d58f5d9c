/** Deletes nodes of static pools that have more than `spec.replicas`. */

import { isStaticPool } from '../../apis/karpenter/is-static-pool.ts';
import { LABEL_NODE_POOL } from '../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { ReconcileContext, ReconcileResult } from '../../kube/controller.ts';
import { enqueueOn } from '../../kube/enqueue.ts';
import type { ControllersOptions } from '../controllers-options.ts';
import type { Commands } from '../disruption/commands/commands.ts';
import { InformedController } from '../informed-controller.ts';
import { deleteClaim } from '../nodeclaim/delete-claim.ts';
import type { SpotPolicies } from '../spot-policy/spot-policies.ts';
import { chooseSurplus } from './choose-surplus.ts';
import { deletionOrder } from './deletion-order.ts';
import { scaledDown } from './events.ts';
import { staticCount } from './static-count.ts';

export interface StaticScaleDownOptions extends ControllersOptions {
  readonly commands: Pick<Commands, 'markOf'>;
  readonly policies: Pick<SpotPolicies, 'for'>;
}

/** How often a pool is checked without an event, for example after a disruption command was rolled back. */
const PERIOD_MS = 60_000;

export class StaticScaleDown {
  readonly name = 'static.deprovisioning';
  readonly #options: StaticScaleDownOptions;
  readonly #controller: InformedController;
  /** UIDs of claims that were deleted here and are still in the cache without a deletion timestamp. */
  readonly #deleted = new Set<string>();

  constructor(options: StaticScaleDownOptions) {
    this.#options = options;
    const { nodePools, nodeClaims } = options.state.informers;
    this.#controller = new InformedController(options, {
      name: this.name,
      listen: (queue) => {
        const heard = ({ metadata }: NodeClaim): void => {
          if (metadata.deletionTimestamp !== undefined) this.#deleted.delete(metadata.uid ?? '');
          const pool = metadata.labels?.[LABEL_NODE_POOL];
          if (pool !== undefined) queue.add(pool);
        };
        return [
          enqueueOn(nodePools, queue),
          nodeClaims.addHandler({
            added: heard,
            updated: heard,
            deleted: ({ metadata }) => this.#deleted.delete(metadata.uid ?? ''),
          }),
        ];
      },
      reconcile: (pool, context) => this.#reconcile(pool, context),
    });
  }

  /** Runs until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#controller.run(signal);
  }

  async #reconcile(name: string, { logger, signal }: ReconcileContext): Promise<ReconcileResult | undefined> {
    const { client, clock, clouds, commands, policies, recorder, state } = this.#options;
    const pool = state.informers.nodePools.get(name);
    // The claims of a pool that is being deleted are deleted with it.
    if (pool === undefined || !isStaticPool(pool) || !clouds.isOurs(pool)) return undefined;
    if (pool.metadata.deletionTimestamp !== undefined) return undefined;
    const nodes = state.nodes().filter(({ claim }) => !this.#deleted.has(claim?.metadata.uid ?? ''));
    const { staying, surplus } = staticCount(pool, nodes, (claim) => commands.markOf(claim) !== undefined);
    if (surplus === 0) return { requeueAfterMs: PERIOD_MS };
    const ordered = deletionOrder(staying, (node) => state.podsOn(node), clock.now());
    const going = chooseSurplus(ordered, surplus, policies);
    const names = going.map(({ claim }) => claim?.metadata.name ?? '');
    logger.info('deleting surplus nodes of a static pool', { replicas: pool.spec.replicas, nodeClaims: names });
    recorder.record(scaledDown(pool, names));
    await Promise.all(going.map(({ claim }) => this.#delete(claim as NodeClaim, client, signal)));
    return { requeueAfterMs: PERIOD_MS };
  }

  async #delete(claim: NodeClaim, client: ControllersOptions['client'], signal: AbortSignal): Promise<void> {
    const { uid = '' } = claim.metadata;
    await deleteClaim(client, claim, signal);
    const cached = this.#options.state.informers.nodeClaims.get(claim.metadata.name ?? '');
    if (cached?.metadata.uid === uid && cached.metadata.deletionTimestamp === undefined) this.#deleted.add(uid);
  }
}
