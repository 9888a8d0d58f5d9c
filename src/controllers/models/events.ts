/** Events about models. */
import type { OpenModel } from '../../apis/llmaz/open-model.ts';
import type { RecordedEvent } from '../../kube/event-recorder.ts';

/** The annotation that asks for spares cannot be read. */
export function sparesInvalid(model: OpenModel, problem: string): RecordedEvent {
  return {
    ...{ object: model, type: 'Warning', reason: 'WarmSparesInvalid' },
    message: `No room is kept for spares: ${problem}`,
    quietMs: 300_000,
  };
}
