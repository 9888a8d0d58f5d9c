/**
 * Writes `controller.kubernetes.io/pod-deletion-cost` on pods of ReplicaSets, so that a Deployment that is scaled down first deletes the
 * pods on nodes that are or should be removed. Off by default, because it overwrites costs that people have set.
 */

import { keyOf } from '../../apis/kubernetes/object.ts';
import { PODS, type Pod } from '../../apis/kubernetes/pod.ts';
import { asError, hasCode } from '../../platform/errors.ts';
import type { CounterMetric } from '../../platform/metrics.ts';
import { ANNOTATION_POD_DELETION_COST } from '../../state/eviction-cost.ts';
import { nodePrice, runningAs } from '../../state/node-price.ts';
import { labelsOf } from '../../state/state-node.ts';
import type { RunningController } from '../all.ts';
import type { ControllersOptions } from '../controllers-options.ts';
import { Budgets } from '../disruption/budgets/budgets.ts';
import type { ChangeStamp } from '../disruption/consolidation/change-stamp.ts';
import { periodicController } from '../periodic-controller.ts';
import { decideDeletionCosts } from './decide-deletion-costs.ts';

export interface PodDeletionCostOptions extends ControllersOptions {
  /** Changes with the cluster, so that unchanged periods are skipped. */
  readonly stamp: Pick<ChangeStamp, 'value'>;
}

type Result = 'updated' | 'skipped_unchanged' | 'skipped_notfound' | 'skipped_conflict' | 'error';

const PERIOD_MS = 60_000;
/** Pods patched concurrently. */
const AT_A_TIME = 20;

/** Runs every minute if the cluster has changed. */
export function podDeletionCost(options: PodDeletionCostOptions): RunningController {
  const { client, clock, clouds, metrics, stamp, state } = options;
  const writes: CounterMetric<'result'> = metrics.counter({
    name: 'karpenter_pod_deletion_cost_pod_annotation_writes_total',
    help: 'Pods whose deletion cost was decided, per result of the write',
    labels: ['result'],
  });
  // The availability controller decides which replicas of a service with ready-replicas are deleted first.
  const isOurs = (pod: Pod): boolean => state.services.of(pod) === undefined;
  let seen = -1;
  return periodicController(options, 'pod.deletioncost', PERIOD_MS, async ({ logger, signal }) => {
    if (stamp.value === seen) return;
    const before = stamp.value;
    const nodes = state.nodes();
    const pools = state.informers.nodePools.list();
    const budgets = new Budgets({ pools, nodes, now: clock.now() });
    const decided = decideDeletionCosts({
      ...{ now: clock.now(), nodes, podsOn: (node) => state.podsOn(node) },
      poolNamed: new Map(pools.map((pool) => [pool.metadata.name ?? '', pool])),
      priceOf: (node) =>
        nodePrice(
          runningAs(labelsOf(node), (labels) => clouds.reservationOf(labels)),
          undefined,
          node.claim,
        ),
      allowed: (pool, reason) => budgets.left(pool, reason),
    });
    const costs = [...decided].filter(([pod]) => isOurs(pod));
    const changed = costs.filter(
      ([pod, cost]) => pod.metadata.annotations?.[ANNOTATION_POD_DELETION_COST] !== written(cost),
    );
    writes.add({ result: 'skipped_unchanged' }, costs.length - changed.length);
    let failed = 0;
    for (let from = 0; from < changed.length; from += AT_A_TIME) {
      const results = await Promise.all(
        changed.slice(from, from + AT_A_TIME).map(([pod, cost]) => write(pod, cost, signal)),
      );
      for (const result of results) writes.add({ result });
      failed += results.filter((result) => result === 'error').length;
    }
    if (failed > 0) logger.warn('deletion costs of pods could not be written', { pods: failed });
    // After writes of its own it looks once more: they change the pods too.
    seen = failed > 0 || changed.length > 0 ? -1 : before;
  });

  async function write(pod: Pod, cost: number | undefined, signal: AbortSignal): Promise<Result> {
    const annotations = { [ANNOTATION_POD_DELETION_COST]: written(cost) ?? null };
    const body = { metadata: { uid: pod.metadata.uid, annotations } };
    try {
      await client.patch(PODS, keyOf(pod), { type: 'merge', body }, { signal });
      return 'updated';
    } catch (error) {
      signal.throwIfAborted();
      if (hasCode(error, 'KUBE_NOT_FOUND')) return 'skipped_notfound';
      if (hasCode(error, 'KUBE_CONFLICT')) return 'skipped_conflict';
      options.logger.debug('the deletion cost of a pod could not be written', {
        Pod: keyOf(pod),
        error: asError(error),
      });
      return 'error';
    }
  }
}

function written(cost: number | undefined): string | undefined {
  return cost === undefined ? undefined : String(cost);
}
