/** A live cluster as provisioning and consolidation see it, for commands that ask without a running autoscaler. */
import { CLOUD_LABELS } from '../cloud/simulated/labels.ts';
import { Budgets } from '../controllers/disruption/budgets/budgets.ts';
import type { FleetSnapshot } from '../state/build-fleet.ts';
import type { ClusterSnapshot } from '../state/build-problem.ts';
import type { WatchedCluster } from './live-cluster.ts';
import { SimulatedMarket } from './simulated-market.ts';
import { type UnusablePool, unusableBecause } from './why/pod-why.ts';

/** What the clouds of the cluster sell. */
export function marketOf({ clock, state, nodeClasses }: WatchedCluster): SimulatedMarket {
  return new SimulatedMarket({ now: clock.now(), nodeClasses: nodeClasses(), nodes: state.informers.nodes.list() });
}

/** The cluster as provisioning would see it now, and the pools that it would leave out. */
export function snapshotOf(cluster: WatchedCluster): { snapshot: ClusterSnapshot; unusable: UnusablePool[] } {
  const { state } = cluster;
  const { informers } = state;
  const market = marketOf(cluster);
  const unusable: UnusablePool[] = [];
  const pools = informers.nodePools.list().flatMap((pool) => {
    const instanceTypes = market.instanceTypes(pool.spec.template.spec.nodeClassRef);
    const problem =
      unusableBecause(pool) ?? ('problem' in instanceTypes ? `cannot be asked: ${instanceTypes.problem}` : undefined);
    if (problem === undefined && !('problem' in instanceTypes)) return [{ pool, instanceTypes }];
    unusable.push({ pool: pool.metadata.name ?? '', problem: problem ?? '' });
    return [];
  });
  const snapshot: ClusterSnapshot = {
    pending: [],
    nodes: state.nodes(),
    podsOn: (node) => state.podsOn(node),
    daemonSets: informers.daemonSets.list(),
    pools,
    namespaces: informers.namespaces.list(),
    storage: state.storage,
  };
  return { snapshot, unusable };
}

/** The cluster as consolidation would see it now, with what the budgets of its pools allow. */
export function fleetSnapshotOf(cluster: WatchedCluster): {
  snapshot: FleetSnapshot;
  budgets: Budgets;
  unusable: UnusablePool[];
} {
  const { state, clock } = cluster;
  const { nodePools, disruptionBudgets } = state.informers;
  const { snapshot, unusable } = snapshotOf(cluster);
  const now = clock.now();
  const pools = nodePools.list();
  const budgets = new Budgets({ pools, nodes: snapshot.nodes, now });
  return {
    budgets,
    unusable,
    snapshot: {
      ...snapshot,
      now,
      nodePools: pools,
      disruptionBudgets: disruptionBudgets.list(),
      reservationLabel: CLOUD_LABELS.reservation,
      allowed: (pool) => ({
        Empty: budgets.left(pool, 'Empty'),
        Underutilized: budgets.left(pool, 'Underutilized'),
      }),
    },
  };
}
