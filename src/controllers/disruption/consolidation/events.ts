/** What people are told about consolidation. */
import type { KubeObject } from '../../../apis/kubernetes/object.ts';
import type { RecordedEvent } from '../../../kube/event-recorder.ts';
import type { Objection } from './validation.ts';

const QUARTER_MS = 15 * 60_000;

/** The node, or its claim, goes because its pods can be held for less. */
export function consolidationApproved(object: KubeObject, sentence: string): RecordedEvent {
  return { object, type: 'Normal', reason: 'ConsolidationApproved', message: `Consolidation: ${sentence}` };
}

/** The node was to go, and something changed before it began. */
export function consolidationRejected(object: KubeObject, { kind, because }: Objection): RecordedEvent {
  const message = `Consolidation dropped (${kind}): ${because}`;
  return { object, type: 'Normal', reason: 'ConsolidationRejected', message };
}

/** Why the node is left as it is. */
export function unconsolidatable(object: KubeObject, sentence: string): RecordedEvent {
  return { object, type: 'Normal', reason: 'Unconsolidatable', message: sentence, quietMs: QUARTER_MS };
}
