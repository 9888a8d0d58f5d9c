/** What people are told about static pools. */
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import type { RecordedEvent } from '../../kube/event-recorder.ts';

const FIVE_MINUTES_MS = 300_000;

/** The pool has fewer nodes than it should, and why none is launched. */
export function replicasMissing(pool: NodePool, missing: number, why: string): RecordedEvent {
  const message = `${missing} of ${pool.spec.replicas} nodes are missing: ${why}`;
  return { object: pool, type: 'Warning', reason: 'ReplicasMissing', message, dedupe: [why], quietMs: FIVE_MINUTES_MS };
}

/** Nodes go because `spec.replicas` was lowered. */
export function scaledDown(pool: NodePool, nodes: readonly string[]): RecordedEvent {
  const message = `The pool keeps ${pool.spec.replicas} nodes: ${nodes.join(', ')} are deleted`;
  return { object: pool, type: 'Normal', reason: 'ScaledDown', message, dedupe: [...nodes] };
}
