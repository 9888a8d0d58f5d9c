/**
 * What outlasts a term of leadership: views of the caches, metrics, and what has been learnt of the clouds. All else that
 * controllers remember begins anew with each term: what was under way when a term ended is seen through by nobody, and another
 * replica may have led since.
 */
import type { UnavailableOfferings } from '../cloud/unavailable-offerings.ts';
import { DisruptionBudgets } from '../state/drain/disruption-budgets.ts';
import type { UsablePool } from '../state/usable-pool.ts';
import { WaitingPods } from '../state/waiting-pods.ts';
import { serviceGauges } from './availability/service-gauges.ts';
import { ConditionMetrics } from './condition-metrics.ts';
import type { ControllersOptions } from './controllers-options.ts';
import { ChangeStamp } from './disruption/consolidation/change-stamp.ts';
import { clusterGauges } from './metrics/cluster-gauges.ts';
import { ModelMetrics } from './metrics/model-metrics.ts';
import { nodeGauges } from './metrics/node-gauges.ts';
import { OfferingGauges } from './metrics/offering-gauges.ts';
import { PodMetrics } from './metrics/pod-metrics.ts';
import { PoolCost } from './metrics/pool-cost.ts';
import { OwnWrites } from './own-writes.ts';
import { RiskKeeper } from './spot-policy/risk-keeper.ts';

export interface LastingPartsOptions extends Pick<ControllersOptions, 'client' | 'clock' | 'metrics' | 'state'> {
  readonly clouds: Pick<ControllersOptions['clouds'], 'isOurs' | 'labels' | 'reservationOf'>;
  /** What the cloud had no capacity of: where risk is learned from failed launches. */
  readonly unavailable: UnavailableOfferings;
}

export interface LastingParts {
  /** Right in every term: what others write over it is seen by its version. */
  readonly writes: OwnWrites;
  readonly budgets: DisruptionBudgets;
  readonly stamp: ChangeStamp;
  readonly risk: RiskKeeper;
  readonly podMetrics: PodMetrics;
  readonly waitingPods: WaitingPods;
  /** Shows what the clouds sell. */
  readonly showSold: (pools: readonly UsablePool[]) => void;
}

/** Made once in a process: all of them listen to the caches for as long as it runs. */
export function lastingParts(options: LastingPartsOptions): LastingParts {
  const { client, clock, clouds, metrics, state, unavailable } = options;
  const { disruptionBudgets, nodeClaims, nodePools, nodes, pods, spotPolicies } = state.informers;
  new ConditionMetrics(options, 'nodeclaim').follow(nodeClaims, (claim) => clouds.isOurs(claim));
  new ConditionMetrics(options, 'nodepool').follow(nodePools, (pool) => clouds.isOurs(pool));
  new ConditionMetrics(options, 'node').follow(nodes);
  new ConditionMetrics(options, 'spotpolicy').follow(spotPolicies);
  new ModelMetrics(options).follow(pods);
  clusterGauges(options);
  serviceGauges({ metrics, services: state.services });
  nodeGauges({ ...options, cloudLabels: [...new Set(clouds.labels.flatMap(({ wellKnown }) => wellKnown))] });
  const offerings = new OfferingGauges(metrics);
  const cost = new PoolCost({ metrics, state, reservationOf: (labels) => clouds.reservationOf(labels) });
  const risk = new RiskKeeper(options);
  risk.followLaunches(unavailable);
  risk.followPolicies(spotPolicies);
  return {
    writes: new OwnWrites(client, state.informers),
    budgets: new DisruptionBudgets(disruptionBudgets),
    stamp: new ChangeStamp(state.informers),
    risk,
    podMetrics: new PodMetrics(options),
    waitingPods: new WaitingPods({ clock, pods }),
    showSold: (pools) => {
      offerings.heard(pools);
      cost.heard(pools);
    },
  };
}
