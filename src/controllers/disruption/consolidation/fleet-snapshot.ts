import type { EpochMs } from '../../../platform/clock.ts';
import type { FleetSnapshot } from '../../../state/build-fleet.ts';
import type { ClusterState } from '../../../state/cluster-state.ts';
import type { Headroom } from '../../../state/headroom.ts';
import type { UsablePool } from '../../../state/usable-pool.ts';
import type { PodEvents } from '../../nodeclaim/podevents/pod-events.ts';
import type { SpotPolicies } from '../../spot-policy/spot-policies.ts';
import type { BackOff } from '../back-off.ts';
import type { Look } from '../look.ts';
import { poolBackOffKey } from '../pool-back-off-key.ts';
import { policyHold } from './within-policies.ts';

export interface FleetSnapshotOptions {
  readonly state: ClusterState;
  readonly look: Look;
  readonly now: EpochMs;
  readonly pools: readonly UsablePool[];
  /** How each pool uses spot capacity. */
  readonly policies: Pick<SpotPolicies, 'for'>;
  /** The reservation that a node's labels name. */
  readonly reservationOf: NonNullable<FleetSnapshot['reservationOf']>;
  readonly podEvents: Pick<PodEvents, 'latest'>;
  /** Pools whose nodes did not come up launch none for a while. */
  readonly backOff: Pick<BackOff, 'leftMs'>;
  /** The room that CapacityBuffers reserve. */
  readonly headroom: Pick<Headroom, 'on'>;
  readonly cooldownMs?: number | undefined;
}

/** The cluster as consolidation plans with it, with what budgets and policies allow. */
export function fleetSnapshot(options: FleetSnapshotOptions): FleetSnapshot {
  const { state, look, now, pools, policies, podEvents, backOff, reservationOf, cooldownMs, headroom } = options;
  const { nodes, budgets } = look;
  const { informers, storage, models } = state;
  const podsOn: FleetSnapshot['podsOn'] = (name) => {
    const node = look.node(name);
    const virtual = node === undefined ? [] : headroom.on(node);
    return virtual.length === 0 ? state.podsOn(name) : [...state.podsOn(name), ...virtual];
  };
  return {
    now,
    nodes,
    podsOn,
    daemonSets: state.daemonSets(),
    pools,
    nodePools: [...look.poolNamed.values()],
    namespaces: informers.namespaces.list(),
    disruptionBudgets: informers.disruptionBudgets.list(),
    storage,
    models,
    reservationOf,
    podNamed: (key) => look.podNamed(key),
    isNominated: (node) => look.isNominated(node),
    podEventAt: (node) => podEvents.latest(node),
    allowed: (pool) => ({ Empty: budgets.left(pool, 'Empty'), Underutilized: budgets.left(pool, 'Underutilized') }),
    launches: (pool) => backOff.leftMs(poolBackOffKey(pool, 'Underutilized')) === 0,
    policyHold: policyHold({ policies, pools, nodes, now, podsOn }),
    ...(cooldownMs === undefined ? {} : { cooldownMs }),
  };
}
