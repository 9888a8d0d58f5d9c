/** What the engine is asked when a static pool needs nodes. Pure. */
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
  /** All nodes of the cluster; those that go count against the limits of the pool as well. */
  readonly nodes: readonly StateNode[];
  /** Claims that do not count against the limits of the pool any more. */
  isLost?(claim: NodeClaim): boolean;
}

/**
 * The question for so many more nodes of a pool. The nodes that the pool has are closed, so that each replica gets a new one, and
 * hold a replica each, so that zones and spot pools are counted.
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
