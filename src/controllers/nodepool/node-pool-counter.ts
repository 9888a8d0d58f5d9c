import { LABEL_NODE_POOL } from '../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import { NODE_POOLS, type NodePool } from '../../apis/karpenter/node-pool.ts';
import type { ResourceList } from '../../apis/kubernetes/pod.ts';
import { resourceAmounts } from '../../apis/kubernetes/pod-requests.ts';
import { quantities } from '../../apis/kubernetes/resource-quantities.ts';
import type { Resources } from '../../engine/problem.ts';
import type { ReconcileContext } from '../../kube/controller.ts';
import type { GaugeMetric } from '../../platform/metrics.ts';
import { BY_POOL } from '../../state/cluster-informers.ts';
import { resources } from '../../state/pod-group.ts';
import type { ControllersOptions } from '../controllers-options.ts';
import { InformedController } from '../informed-controller.ts';
import { countNodes } from './count-nodes.ts';

/** A thousand claims that change together are counted a few times, not a thousand times. */
const GATHER_MS = 500;

/** Keeps the number of a pool's nodes, and what they have together, in its status. */
export class NodePoolCounter {
  readonly name = 'nodepool.counter';
  readonly #options: ControllersOptions;
  readonly #usage: GaugeMetric<'nodepool' | 'resource_type'>;
  readonly #limit: GaugeMetric<'nodepool' | 'resource_type'>;
  readonly #controller: InformedController;

  constructor(options: ControllersOptions) {
    this.#options = options;
    const labels = ['nodepool', 'resource_type'] as const;
    this.#usage = options.metrics.gauge({
      name: 'karpenter_nodepools_usage',
      help: 'What the nodes of a pool have together, per pool and resource',
      labels,
    });
    this.#limit = options.metrics.gauge({
      name: 'karpenter_nodepools_limit',
      help: 'What the nodes of a pool may have together, per pool and resource',
      labels,
    });
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
    const counted = countNodes(state.informers.nodeClaims.byIndex(BY_POOL, name));
    this.#observe(pool, counted);
    const { nodes = 0, ...amounts } = counted;
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

  #observe(pool: NodePool, counted: Resources): void {
    const nodepool = pool.metadata.name ?? '';
    const limits = resources(resourceAmounts(pool.spec.limits as ResourceList | undefined));
    const set = (gauge: GaugeMetric<'nodepool' | 'resource_type'>, amounts: Resources): void => {
      // Cores, not thousandths of them, as Prometheus counts.
      for (const [name, amount] of Object.entries(amounts))
        gauge.set({ nodepool, resource_type: name }, name === 'cpu' ? amount / 1000 : amount);
    };
    set(this.#usage, counted);
    set(this.#limit, limits);
  }
}

function sorted(list: ResourceList | undefined): [string, string][] {
  return Object.entries(list ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
}
