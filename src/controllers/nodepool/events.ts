/** What people are told about pools. */
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import type { RecordedEvent } from '../../kube/event-recorder.ts';

/** The pool says something that makes no sense, which only shows now. */
export function validationFailed(pool: NodePool, problems: string): RecordedEvent {
  return { object: pool, type: 'Warning', reason: 'ValidationFailed', message: problems };
}

/** Something in the pool means nothing, and the rest is followed. */
export function partlyIgnored(pool: NodePool, what: string): RecordedEvent {
  return { object: pool, type: 'Warning', reason: 'PartlyIgnored', message: what };
}

/** Nothing can be launched for the pool. */
export function nodeClassNotReady(pool: NodePool, why: string): RecordedEvent {
  return { object: pool, type: 'Warning', reason: 'NodeClassNotReady', message: why };
}

/** Spot machines of the pool may be taken back without anybody hearing of it before. */
export function noSignalSource(pool: NodePool, why: string): RecordedEvent {
  return { object: pool, type: 'Warning', reason: 'NoInterruptionSignals', message: why, dedupe: [] };
}
