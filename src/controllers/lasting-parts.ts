/**
 * Parts that outlast a term of leadership: views of the caches, metrics, and knowledge about the clouds. All other memory of the
 * controllers starts empty with each term: nobody finishes the work of an ended term, and another replica may have led since.
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
import { poolGauges } from './metrics/pool-gauges.ts';
import { OwnWrites } from './own-writes.ts';
import { RiskKeeper } from './spot-policy/risk-keeper.ts';

export interface LastingPartsOptions extends Pick<ControllersOptions, 'client' | 'clock' | 'metrics' | 'state'> {
  readonly clouds: Pick<ControllersOptions['clouds'], 'isOurs' | 'labels' | 'reservationOf'>;
  /** Offerings without capacity: failed launches raise the risk of their spot pool. */
  readonly unavailable: UnavailableOfferings;
}

export interface LastingParts {
  /** Valid in every term: versions show what others have written since. */
  readonly writes: OwnWrites;
  readonly budgets: DisruptionBudgets;
  readonly stamp: ChangeStamp;
  readonly risk: RiskKeeper;
  readonly podMetrics: PodMetrics;
  readonly waitingPods: WaitingPods;
  /** Updates the metrics of offerings and costs. */
  readonly showSold: (pools: readonly UsablePool[]) => void;
}

/** Builds them once per process; they listen to the caches for as long as it runs. */
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
  poolGauges(options);
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
