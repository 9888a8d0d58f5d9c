/** Total capacity and limits of each pool, under the names that Karpenter's dashboards know. */
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import type { ResourceList } from '../../apis/kubernetes/pod.ts';
import { resourceAmounts } from '../../apis/kubernetes/pod-requests.ts';
import type { Resources } from '../../engine/problem.ts';
import type { Series } from '../../platform/counted-gauge.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { BY_POOL } from '../../state/cluster-informers.ts';
import type { ClusterState } from '../../state/cluster-state.ts';
import { resources } from '../../state/pod-group.ts';
import type { ControllersOptions } from '../controllers-options.ts';
import { countNodes } from '../nodepool/count-nodes.ts';

export interface PoolGaugesOptions {
  readonly metrics: Metrics;
  readonly state: Pick<ClusterState, 'informers'>;
  readonly clouds: Pick<ControllersOptions['clouds'], 'isOurs'>;
}

const LABELS = ['nodepool', 'resource_type'] as const;

/** Registers gauges that are computed on each scrape, so that a deleted pool and a removed limit leave no series behind. */
export function poolGauges({ metrics, state, clouds }: PoolGaugesOptions): void {
  const { nodePools, nodeClaims } = state.informers;
  const perPool = (name: string, help: string, amounts: (pool: NodePool) => Resources): void =>
    metrics.counted({ name, help, labels: LABELS }, function* (): Iterable<
      Series<(typeof LABELS)[number]> | undefined
    > {
      for (const pool of nodePools.list().filter((each) => clouds.isOurs(each))) {
        yield undefined;
        const nodepool = pool.metadata.name ?? '';
        // Prometheus convention: cores, not millicores.
        for (const [resource_type, amount] of Object.entries(amounts(pool)))
          yield [{ nodepool, resource_type }, resource_type === 'cpu' ? amount / 1000 : amount];
      }
    });
  perPool('karpenter_nodepools_usage', 'Total capacity of the nodes of a pool, per pool and resource', (pool) =>
    countNodes(nodeClaims.byIndex(BY_POOL, pool.metadata.name ?? '')),
  );
  perPool('karpenter_nodepools_limit', 'Limits of a pool, per pool and resource', (pool) =>
    resources(resourceAmounts(pool.spec.limits as ResourceList | undefined)),
  );
}
