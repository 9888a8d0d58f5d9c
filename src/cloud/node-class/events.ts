import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { RecordedEvent } from '../../kube/event-recorder.ts';
import type { NodeClass } from '../node-class-kind.ts';

const NAMED = 5;
const QUIET_MS = 5 * 60_000;

/** A node class cannot go while claims refer to it. */
export function waitingForClaims(nodeClass: NodeClass, claims: readonly NodeClaim[]): RecordedEvent {
  const names = claims.map(({ metadata }) => metadata.name ?? '').sort();
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : '';
  return {
    object: nodeClass,
    type: 'Normal',
    reason: 'WaitingOnNodeClaimTermination',
    message: `Waiting on NodeClaim termination for ${names.slice(0, NAMED).join(', ')}${more}`,
    quietMs: QUIET_MS,
  };
}
