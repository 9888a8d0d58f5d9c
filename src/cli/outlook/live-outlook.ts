/** The outlook for a live cluster, and what has to be said with it. */
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

/** What is to be expected of a live cluster. */
export interface LiveOutlook extends Outlook, Pick<LiveFleet, 'budgets' | 'look'> {
  /** Clauses without their ends: which pools are left out, and what the autoscaler waits for. */
  readonly notes: readonly string[];
}

/** Reads what the cluster shows, and asks. */
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
    ...(eventsRead ? [] : ['events may not be read here: which nodes are kept for pods that are to come is not known']),
  ];
  return { ...found, budgets, look, notes };
}

/** What has to be said wherever a move is expected. */
export const UNKNOWN =
  'offerings that failed lately, places promised to pods of nodes that go, and how the latest moves turned out are known to the running autoscaler alone: it may leave out some of these moves';

/** Why the autoscaler would not begin anything this very moment. */
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
          `nothing begins yet: ${pending === 1 ? 'a pod is' : `${pending} pods are`} waiting for a first round of provisioning`,
        ]),
    ...(going.length === 0
      ? []
      : [`nothing else begins before what was moved last is gone: ${going.map(({ name }) => name).join(', ')}`]),
  ];
}
