/** What people are told about machines that their cloud takes away. */
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { Node } from '../../apis/kubernetes/node.ts';
import type { Notice, NoticeKind } from '../../cloud/notice.ts';
import type { RecordedEvent } from '../../kube/event-recorder.ts';
import { toTimestamp } from '../../platform/clock.ts';

/** Karpenter's reasons where it has one. */
const REASONS: Readonly<Record<NoticeKind, string>> = {
  'spot-interruption': 'SpotInterrupted',
  rebalance: 'SpotRebalanceRecommendation',
  'scheduled-maintenance': 'InstanceMaintenanceScheduled',
  preempted: 'SpotInterrupted',
  stopping: 'InstanceStopping',
  terminated: 'InstanceTerminating',
  'reservation-ending': 'CapacityReservationEnding',
};

const HARMLESS: readonly NoticeKind[] = ['rebalance', 'reservation-ending'];

/** The cloud has said something about the machine. */
export function noticeReceived(object: NodeClaim | Node, { kind, detail, deadline }: Notice): RecordedEvent {
  const when = deadline === undefined ? '' : `, at ${toTimestamp(deadline)}`;
  const type = HARMLESS.includes(kind) ? 'Normal' : 'Warning';
  return { object, type, reason: REASONS[kind], message: `${detail}${when}`, dedupe: [String(deadline ?? '')] };
}

/** The drain of the node begins. */
export function terminatingOnInterruption(object: NodeClaim | Node, because: string): RecordedEvent {
  const message = `Interruption triggered termination: ${because}`;
  return { object, type: 'Warning', reason: 'TerminatingOnInterruption', message, dedupe: [] };
}
