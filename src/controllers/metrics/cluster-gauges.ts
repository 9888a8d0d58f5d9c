/** Metrics of the cluster as a whole, and of this build. */

import { resourceAmounts } from '../../apis/kubernetes/pod-requests.ts';
import { type Clock, parseTimestamp } from '../../platform/clock.ts';
import type { Series } from '../../platform/counted-gauge.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { version } from '../../platform/version.ts';
import type { ClusterState } from '../../state/cluster-state.ts';
import { knownRequests } from '../../state/known-requests.ts';

export interface ClusterGaugesOptions {
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly state: ClusterState;
}

export function clusterGauges({ metrics, clock, state }: ClusterGaugesOptions): void {
  metrics.counted(
    {
      name: 'karpenter_build_info',
      help: '1, with the version of this program',
      labels: ['version', 'goversion', 'goarch', 'commit'],
    },
    () => [[{ version: version(), goversion: '', goarch: '', commit: '' }, 1]],
  );
  metrics.counted(
    { name: 'karpenter_cluster_state_node_count', help: 'Number of nodes, and of NodeClaims without a node' },
    () => [[{}, state.nodes().length]],
  );
  metrics.counted({ name: 'karpenter_cluster_state_synced', help: '1 if every NodeClaim has its provider ID' }, () => [
    [{}, unsynced(state).length === 0 ? 1 : 0],
  ]);
  metrics.counted(
    {
      name: 'karpenter_cluster_state_unsynced_time_seconds',
      help: 'Age of the oldest NodeClaim without provider ID, in seconds',
    },
    () => {
      const oldest = Math.min(...unsynced(state), clock.now());
      return [[{}, (clock.now() - oldest) / 1000]];
    },
  );
  metrics.counted(
    {
      name: 'karpenter_cluster_utilization_percent',
      help: 'Pod requests as a share of the allocatable resources of all nodes, in percent, per resource',
      labels: ['resource_type'],
    },
    () => utilization(state),
  );
}

/** Creation times of claims without provider ID. */
function unsynced(state: ClusterState): number[] {
  return state.informers.nodeClaims
    .list()
    .flatMap(({ metadata, status }) =>
      status?.providerID === undefined ? [parseTimestamp(metadata.creationTimestamp) ?? 0] : [],
    );
}

/** Yields after each node, as there may be many pods. */
function* utilization(state: ClusterState): Iterable<Series<'resource_type'> | undefined> {
  const has = new Map<string, number>();
  const asked = new Map<string, number>();
  const add = (to: Map<string, number>, amounts: Readonly<Record<string, bigint>>): void => {
    for (const [name, amount] of Object.entries(amounts)) to.set(name, (to.get(name) ?? 0) + Number(amount));
  };
  for (const node of state.informers.nodes.list()) {
    add(has, resourceAmounts(node.status?.allocatable));
    const pods = state.podsOn(node.metadata.name ?? '');
    add(asked, { pods: BigInt(pods.length) });
    for (const pod of pods) add(asked, knownRequests(pod).amounts);
    yield undefined;
  }
  for (const [resource_type, amount] of has) {
    if (amount > 0) yield [{ resource_type }, (100 * (asked.get(resource_type) ?? 0)) / amount];
  }
}
