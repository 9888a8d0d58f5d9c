/** Events of SpotPolicies. */
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import type { RecordedEvent } from '../../kube/event-recorder.ts';

const MINUTE_MS = 60_000;

/** A plan does not meet a limit of the SpotPolicy of the pool. */
export function spotPolicyNotKept(pool: NodePool, why: string): RecordedEvent {
  return { object: pool, type: 'Warning', reason: 'SpotPolicyNotKept', message: why, dedupe: [], quietMs: MINUTE_MS };
}
