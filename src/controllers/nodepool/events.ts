/** Events of NodePools. */
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import type { RecordedEvent } from '../../kube/event-recorder.ts';

/** The pool breaks a rule that the API server does not check. */
export function validationFailed(pool: NodePool, problems: string): RecordedEvent {
  return { object: pool, type: 'Warning', reason: 'ValidationFailed', message: problems };
}

/** A part of the pool has no effect and is ignored. */
export function partlyIgnored(pool: NodePool, what: string): RecordedEvent {
  return { object: pool, type: 'Warning', reason: 'PartlyIgnored', message: what };
}

/** The pool cannot launch nodes, because its node class is not ready. */
export function nodeClassNotReady(pool: NodePool, why: string): RecordedEvent {
  return { object: pool, type: 'Warning', reason: 'NodeClassNotReady', message: why };
}

/** Spot nodes of the pool may be interrupted without notice. */
export function noSignalSource(pool: NodePool, why: string): RecordedEvent {
  return { object: pool, type: 'Warning', reason: 'NoInterruptionSignals', message: why, dedupe: [] };
}
