/** Snapshots of a live cluster as provisioning and consolidation take them, for commands that plan without a running autoscaler. */
import { ANNOTATION_DISRUPTION } from '../apis/spindrift/annotations.ts';
import type { Budgets } from '../controllers/disruption/budgets/budgets.ts';
import { fleetSnapshot } from '../controllers/disruption/consolidation/fleet-snapshot.ts';
import { Look } from '../controllers/disruption/look.ts';
import { RiskKeeper } from '../controllers/spot-policy/risk-keeper.ts';
import { SpotPlanning } from '../controllers/spot-policy/spot-planning.ts';
import { SpotPolicies } from '../controllers/spot-policy/spot-policies.ts';
import { finish } from '../engine/packing/work.ts';
import type { Labels } from '../engine/problem.ts';
import { Metrics } from '../platform/metrics.ts';
import type { FleetSnapshot } from '../state/build-fleet.ts';
import type { ClusterSnapshot } from '../state/build-problem.ts';
import { DisruptionBudgets } from '../state/drain/disruption-budgets.ts';
import { overlaid } from '../state/node-overlays.ts';
import type { Nominations } from '../state/nominations.ts';
import type { WatchedCluster } from './live-cluster.ts';
import type { OfflineClouds } from './offline-clouds.ts';
import { type UnusablePool, unusableBecause } from './why/pod-why.ts';

/** A snapshot as provisioning takes it. */
export interface LiveCluster {
  readonly snapshot: ClusterSnapshot;
  /** Pools that provisioning skips, and why. */
  readonly unusable: readonly UnusablePool[];
  readonly policies: SpotPolicies;
  /** How SpotPolicies, and the risk in their status, change plans. */
  readonly spot: SpotPlanning;
}

/** A snapshot as consolidation takes it. */
export interface LiveFleet extends Pick<LiveCluster, 'unusable' | 'policies'> {
  readonly snapshot: FleetSnapshot;
  /** A fresh copy of the disruptions that the budgets of the pools allow. */
  budgets(): Budgets;
  /** The view that disruption methods decide on; `hear` receives the reasons why nodes must stay. */
  look(hear?: (why: string) => void): Look;
}

/** The instance types that the clouds of the cluster offer. */
export function marketOf({ clock, clouds, state, nodeClasses }: WatchedCluster): OfflineClouds {
  const nodes = state.informers.nodes.list();
  return clouds.market({ now: clock.now(), nodeClasses: nodeClasses(), nodes, live: true });
}

/** The snapshot to plan a single pod against: it has no pending pods. */
export function snapshotOf(cluster: WatchedCluster): LiveCluster {
  const { state, clock } = cluster;
  const { informers } = state;
  const market = marketOf(cluster);
  const policies = new SpotPolicies(informers);
  const risk = new RiskKeeper({ clock, metrics: new Metrics() });
  risk.followPolicies(informers.spotPolicies);
  const spot = new SpotPlanning({ policies, risk, services: state.services });
  const unusable: UnusablePool[] = [];
  const sold = informers.nodePools.list().flatMap((pool) => {
    const name = pool.metadata.name ?? '';
    const types = market.instanceTypes(pool.spec.template.spec.nodeClassRef);
    const problem =
      unusableBecause(pool) ?? ('problem' in types ? `has no instance types: ${types.problem}` : undefined);
    if (problem === undefined && !('problem' in types)) return [{ pool, types }];
    unusable.push({ pool: name, problem: problem ?? '' });
    return [];
  });
  const withOverlays = overlaid(sold, informers.nodeOverlays.list()).types;
  const pools = sold.map(({ pool }, index) => {
    const types = withOverlays[index] ?? [];
    return { pool, instanceTypes: spot.priced(pool.metadata.name ?? '', types), sold: types };
  });
  const snapshot: ClusterSnapshot = {
    pending: [],
    nodes: state.nodes(),
    podsOn: (node) => state.podsOn(node),
    daemonSets: state.daemonSets(),
    pools,
    namespaces: informers.namespaces.list(),
    storage: state.storage,
    models: state.models,
  };
  return { snapshot, unusable, policies, spot };
}

/** The snapshot to plan consolidation on: with budgets, SpotPolicies, and nodes reserved for pending pods. */
export function fleetOf(cluster: WatchedCluster, nominations: Pick<Nominations, 'has'>): LiveFleet {
  const { state, clock } = cluster;
  const { snapshot, unusable, policies } = snapshotOf(cluster);
  const { pools } = snapshot;
  const now = clock.now();
  const podBudgets = new DisruptionBudgets(state.informers.disruptionBudgets);
  const look = (hear: (why: string) => void = () => {}): Look =>
    finish(
      Look.take({
        state,
        now,
        newest: (claim) => claim,
        markOf: ({ metadata }) => metadata.annotations?.[ANNOTATION_DISRUPTION],
        isNominated: (node) => nominations.has(node),
        kept: {
          nominations: { keptFor: () => [] },
          successors: { placesFor: () => new Map(), awaitedBy: () => false },
        },
        // The autoscaler remembers that by itself.
        isStuck: () => false,
        budgetsOf: (pod) => podBudgets.of(pod),
        readPools: async () => ({ forPods: pools, withReplicas: [] }),
        refuse: ({ why }) => hear(why),
        refusePool: (_, why) => hear(why),
        newId: () => '',
        begun: () => 0,
      }),
    );
  // Claims tell of it, or will in a moment.
  const podEvents = { latest: () => undefined };
  // Whose nodes did not come up is known to the autoscaler alone.
  const backOff = { leftMs: () => 0 };
  const reservationOf = (labels: Labels): string | undefined => cluster.clouds.reservationOf(labels);
  return {
    unusable,
    policies,
    snapshot: fleetSnapshot({ ...cluster, look: look(), now, pools, policies, podEvents, backOff, reservationOf }),
    budgets: () => look().budgets,
    look,
  };
}
