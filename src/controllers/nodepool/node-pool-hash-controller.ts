import { ANNOTATION_NODE_POOL_HASH_VERSION, LABEL_NODE_POOL } from '../../apis/karpenter/labels.ts';
import { NODE_CLAIMS } from '../../apis/karpenter/node-claim.ts';
import { NODE_POOLS } from '../../apis/karpenter/node-pool.ts';
import { keyOf } from '../../apis/kubernetes/object.ts';
import type { ReconcileContext } from '../../kube/controller.ts';
import { enqueueOn } from '../../kube/enqueue.ts';
import { BY_POOL } from '../../state/cluster-informers.ts';
import type { ControllersOptions } from '../controllers-options.ts';
import { InformedController } from '../informed-controller.ts';
import { decideHash } from './decide-hash.ts';

/** Keeps the template hash on each pool, and a hash of the same version on its claims. */
export class NodePoolHashController {
  readonly name = 'nodepool.hash';
  readonly #options: ControllersOptions;
  readonly #controller: InformedController;

  constructor(options: ControllersOptions) {
    this.#options = options;
    const { nodePools, nodeClaims } = options.state.informers;
    this.#controller = new InformedController(options, {
      name: this.name,
      listen: (queue) => [
        enqueueOn(nodePools, queue),
        enqueueOn(nodeClaims, queue, ({ metadata: { annotations, labels } }) =>
          annotations?.[ANNOTATION_NODE_POOL_HASH_VERSION] === undefined ? [labels?.[LABEL_NODE_POOL] ?? ''] : [],
        ),
      ],
      reconcile: (name, context) => this.#reconcile(name, context),
    });
  }

  /** Runs until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#controller.run(signal);
  }

  async #reconcile(name: string, { signal }: ReconcileContext): Promise<undefined> {
    const { client, clouds, state } = this.#options;
    const pool = state.informers.nodePools.get(name);
    if (pool === undefined || pool.metadata.deletionTimestamp !== undefined || !clouds.isOurs(pool)) return;
    const { annotations, poolChanges, claims } = decideHash(
      pool,
      state.informers.nodeClaims.byIndex(BY_POOL, name).filter((claim) => clouds.isOurs(claim)),
    );
    // Claims first: a pool with the new version then has no claim with an old one.
    await Promise.all(
      claims.map(({ claim, annotations: wanted }) =>
        client.patch(
          NODE_CLAIMS,
          keyOf(claim),
          { type: 'merge', body: { metadata: { annotations: wanted } } },
          { signal },
        ),
      ),
    );
    if (!poolChanges) return;
    await client.patch(NODE_POOLS, { name }, { type: 'merge', body: { metadata: { annotations } } }, { signal });
  }
}
