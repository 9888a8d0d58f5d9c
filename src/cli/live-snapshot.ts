/** A live cluster as provisioning and consolidation see it, for commands that ask without a running autoscaler. */
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

/** The cluster as provisioning would see it now. */
export interface LiveCluster {
  readonly snapshot: ClusterSnapshot;
  /** The pools that provisioning would leave out. */
  readonly unusable: readonly UnusablePool[];
  readonly policies: SpotPolicies;
  /** What policies and the risk that is written on them do to plans. */
  readonly spot: SpotPlanning;
}

/** The cluster as consolidation would see it now. */
export interface LiveFleet extends Pick<LiveCluster, 'unusable' | 'policies'> {
  readonly snapshot: FleetSnapshot;
  /** What the budgets of its pools allow, each time anew. */
  budgets(): Budgets;
  /** A look at it as disruption takes one; `hear` is told why nodes have to stay. */
  look(hear?: (why: string) => void): Look;
}

/** What the clouds of the cluster sell. */
export function marketOf({ clock, clouds, state, nodeClasses }: WatchedCluster): OfflineClouds {
  const nodes = state.informers.nodes.list();
  return clouds.market({ now: clock.now(), nodeClasses: nodeClasses(), nodes, live: true });
}

/** For one pod at a time: the snapshot has none that are pending. */
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
    const problem = unusableBecause(pool) ?? ('problem' in types ? `cannot be asked: ${types.problem}` : undefined);
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

/** The cluster with what budgets and policies allow, and with the nodes that are known to be kept for pods. */
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
