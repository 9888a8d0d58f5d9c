/** Events of static pools, which have `spec.replicas`. */
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import type { RecordedEvent } from '../../kube/event-recorder.ts';

const FIVE_MINUTES_MS = 300_000;

/** The pool has fewer nodes than `spec.replicas`, and none can be launched. */
export function replicasMissing(pool: NodePool, missing: number, why: string): RecordedEvent {
  const message = `${missing} of ${pool.spec.replicas} nodes are missing: ${why}`;
  return { object: pool, type: 'Warning', reason: 'ReplicasMissing', message, dedupe: [why], quietMs: FIVE_MINUTES_MS };
}

/** Nodes are deleted because `spec.replicas` was lowered. */
export function scaledDown(pool: NodePool, nodes: readonly string[]): RecordedEvent {
  const message = `Deleting nodes above spec.replicas ${pool.spec.replicas}: ${nodes.join(', ')}`;
  return { object: pool, type: 'Normal', reason: 'ScaledDown', message, dedupe: [...nodes] };
}
