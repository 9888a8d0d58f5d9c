/** What is told of policies. */
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import type { RecordedEvent } from '../../kube/event-recorder.ts';

const MINUTE_MS = 60_000;

/** What of the pool's policy a plan does not keep. */
export function spotPolicyNotKept(pool: NodePool, why: string): RecordedEvent {
  return { object: pool, type: 'Warning', reason: 'SpotPolicyNotKept', message: why, dedupe: [], quietMs: MINUTE_MS };
}
