/** Builds the snapshot from which nodes of a static pool are planned. Pure. */
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import type { ClusterSnapshot } from '../../state/build-problem.ts';
import type { ClusterState } from '../../state/cluster-state.ts';
import { poolOf, type StateNode } from '../../state/state-node.ts';
import type { UsablePool } from '../../state/usable-pool.ts';
import { replicaPod } from './replica-pod.ts';
import { staticCount } from './static-count.ts';

export interface ReplicaSnapshotOptions {
  readonly state: Pick<ClusterState, 'daemonSets' | 'informers' | 'storage' | 'models'>;
  /** All nodes of the cluster; nodes being removed count against the limits of the pool too. */
  readonly nodes: readonly StateNode[];
  /** Claims that no longer count against the limits of the pool. */
  isLost?(claim: NodeClaim): boolean;
}

/**
 * A snapshot that asks for `count` more nodes of a pool. Its present nodes are closed, so that each replica gets a new one, and hold one
 * replica each, so that zones and spot pools are counted.
 */
export function replicaSnapshot(
  usable: UsablePool,
  count: number,
  { state, nodes, isLost }: ReplicaSnapshotOptions,
): ClusterSnapshot {
  const { pool } = usable;
  const staying = new Map(staticCount(pool, nodes).staying.map(({ name }) => [name, replicaPod(pool, name, name)]));
  const podsOn = (node: string): readonly Pod[] => {
    const here = staying.get(node);
    return here === undefined ? [] : [here];
  };
  return {
    pending: Array.from({ length: count }, (_, index) => replicaPod(pool, `replica-${index + 1}`)),
    nodes: nodes.filter((node) => poolOf(node) === pool.metadata.name),
    isClosed: () => true,
    ...(isLost && { isLost }),
    podsOn,
    daemonSets: state.daemonSets(),
    pools: [usable],
    namespaces: state.informers.namespaces.list(),
    storage: state.storage,
    models: state.models,
  };
}
