/** Predicts what consolidation will do to a live cluster. */
import { ANNOTATION_DISRUPTION } from '../../apis/spindrift/annotations.ts';
import { readMark } from '../../controllers/disruption/commands/mark.ts';
import { pendingSince, ROUND_MS } from '../../controllers/disruption/consolidation/ground.ts';
import type { EpochMs } from '../../platform/clock.ts';
import type { ClusterState } from '../../state/cluster-state.ts';
import { isGoing, type StateNode } from '../../state/state-node.ts';
import type { WatchedCluster } from '../live-cluster.ts';
import { fleetOf, type LiveFleet } from '../live-snapshot.ts';
import { type Outlook, type OutlookOptions, outlook } from './outlook.ts';
import { readNominations } from './read-nominations.ts';

/** The prediction, with notes on what it does not know. */
export interface LiveOutlook extends Outlook, Pick<LiveFleet, 'budgets' | 'look'> {
  /** Clauses without a full stop: pools that are skipped, and what the autoscaler waits for. */
  readonly notes: readonly string[];
}

/** Takes a snapshot and plans consolidation on it. */
export async function liveOutlook(
  cluster: WatchedCluster,
  limits: OutlookOptions['limits'],
  signal: AbortSignal,
): Promise<LiveOutlook> {
  const { state } = cluster;
  const { nominations, eventsRead } = await readNominations(cluster, signal);
  const { snapshot, budgets, look, policies, unusable } = fleetOf(cluster, nominations);
  const found = outlook(snapshot, { policies, budgets: budgets(), limits });
  const notes = [
    ...unusable.map(({ pool, problem }) => `pool ${pool} ${problem}`),
    ...waits(state, snapshot.nodes, snapshot.now),
    ...(eventsRead ? [] : ['this user may not read events, so that nodes reserved for pending pods are not known']),
  ];
  return { ...found, budgets, look, notes };
}

/** The note beside every predicted move. */
export const UNKNOWN =
  'only the running autoscaler knows recently failed offerings, room reserved for pods of disrupted nodes, and the results of its latest moves, so that it may skip some of these moves';

/** Reasons why the autoscaler starts no move right now. */
export function waits(state: Pick<ClusterState, 'provisionable'>, nodes: readonly StateNode[], now: EpochMs): string[] {
  const pending = state.provisionable().filter((pod) => (pendingSince(pod) ?? 0) > now - ROUND_MS).length;
  const going = nodes.filter(
    (node) =>
      isGoing(node) && readMark(node.claim?.metadata.annotations?.[ANNOTATION_DISRUPTION])?.reason === 'Underutilized',
  );
  return [
    ...(pending === 0
      ? []
      : [
          `no move starts yet: ${pending === 1 ? 'a pod waits' : `${pending} pods wait`} for the first provisioning round`,
        ]),
    ...(going.length === 0
      ? []
      : [
          `no other move starts until the nodes of the last one are deleted: ${going.map(({ name }) => name).join(', ')}`,
        ]),
  ];
}
