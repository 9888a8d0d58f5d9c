import { LABEL_NODE_POOL } from '../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import { NODE_POOLS, type NodePool } from '../../apis/karpenter/node-pool.ts';
import type { ResourceList } from '../../apis/kubernetes/pod.ts';
import { quantities } from '../../apis/kubernetes/resource-quantities.ts';
import type { ReconcileContext } from '../../kube/controller.ts';
import { BY_POOL } from '../../state/cluster-informers.ts';
import type { ControllersOptions } from '../controllers-options.ts';
import { InformedController } from '../informed-controller.ts';
import { countNodes } from './count-nodes.ts';

/** Gathers changes, so that a thousand changing claims are counted a few times only. */
const GATHER_MS = 500;

/** Keeps the number of a pool's nodes and their total capacity in its status. */
export class NodePoolCounter {
  readonly name = 'nodepool.counter';
  readonly #options: ControllersOptions;
  readonly #controller: InformedController;

  constructor(options: ControllersOptions) {
    this.#options = options;
    const { nodePools, nodeClaims } = options.state.informers;
    this.#controller = new InformedController(options, {
      name: this.name,
      listen: (queue) => {
        const count = (pool: string): void => queue.add(pool, { afterMs: GATHER_MS });
        const ofPool = ({ metadata }: NodePool): void => count(metadata.name ?? '');
        const ofClaim = ({ metadata }: NodeClaim): void => count(metadata.labels?.[LABEL_NODE_POOL] ?? '');
        return [
          nodePools.addHandler({ added: ofPool, updated: ofPool }),
          nodeClaims.addHandler({ added: ofClaim, updated: ofClaim, deleted: ofClaim }),
        ];
      },
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
    if (pool === undefined || !clouds.isOurs(pool)) return;
    const { nodes = 0, ...amounts } = countNodes(state.informers.nodeClaims.byIndex(BY_POOL, name));
    const status = { nodes, resources: quantities({ ...amounts, nodes }) };
    const gone = Object.keys(pool.status?.resources ?? {}).filter((key) => !(key in status.resources));
    const same =
      pool.status?.nodes === nodes &&
      JSON.stringify(sorted(pool.status.resources)) === JSON.stringify(sorted(status.resources));
    if (same) return;
    const body = {
      status: { nodes, resources: { ...status.resources, ...Object.fromEntries(gone.map((key) => [key, null])) } },
    };
    await client.patch(NODE_POOLS, { name }, { type: 'merge', body }, { signal, subresource: 'status' });
  }
}

function sorted(list: ResourceList | undefined): [string, string][] {
  return Object.entries(list ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
}
