/** Events of CapacityBuffers. */
import type { CapacityBuffer } from '../../apis/autoscaling/capacity-buffer.ts';
import type { RecordedEvent } from '../../kube/event-recorder.ts';

const FIVE_MINUTES_MS = 300_000;

/** The pod template of the buffer cannot be resolved. */
export function bufferNotResolved(buffer: CapacityBuffer, reason: string, why: string): RecordedEvent {
  return { object: buffer, type: 'Warning', reason, message: why, quietMs: FIVE_MINUTES_MS };
}

/** There is no room for some pods of the buffer, and no node can be launched for them. */
export function bufferNotProvisioned(buffer: CapacityBuffer, pods: number, why: string): RecordedEvent {
  const message = `No room for ${pods} pods of the buffer: ${why}`;
  return {
    object: buffer,
    type: 'Warning',
    reason: 'BufferNotProvisioned',
    message,
    dedupe: [why],
    quietMs: FIVE_MINUTES_MS,
  };
}
