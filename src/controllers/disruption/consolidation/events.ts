/** Events about consolidation. */
import type { KubeObject } from '../../../apis/kubernetes/object.ts';
import type { RecordedEvent } from '../../../kube/event-recorder.ts';
import type { Objection } from './validation.ts';

const QUARTER_MS = 15 * 60_000;

/** The node is removed, because its pods fit on a cheaper fleet. */
export function consolidationApproved(object: KubeObject, sentence: string): RecordedEvent {
  return { object, type: 'Normal', reason: 'ConsolidationApproved', message: `Consolidation: ${sentence}` };
}

/** The consolidation of the node was dropped, because the cluster changed before it began. */
export function consolidationRejected(object: KubeObject, { kind, because }: Objection): RecordedEvent {
  const message = `Consolidation dropped (${kind}): ${because}`;
  return { object, type: 'Normal', reason: 'ConsolidationRejected', message };
}

/** Why the node is not consolidated. */
export function unconsolidatable(object: KubeObject, sentence: string): RecordedEvent {
  return { object, type: 'Normal', reason: 'Unconsolidatable', message: sentence, quietMs: QUARTER_MS };
}
