/** The conditions of a CapacityBuffer. Pure. */
import { isDeepStrictEqual } from 'node:util';
import { PROVISIONING } from '../../apis/autoscaling/capacity-buffer.ts';
import type { ConditionChange } from '../../apis/karpenter/conditions.ts';
import type { Condition } from '../../apis/kubernetes/object.ts';
import { type EpochMs, toTimestamp } from '../../platform/clock.ts';
import type { NotedRoom } from '../../state/headroom-note.ts';

/** Where the virtual pods of a buffer have room. */
export interface RoomKept {
  readonly replicas: number;
  /** Virtual pods with room on initialized nodes. */
  readonly up: number;
  /** Virtual pods with room on nodes that are starting. */
  readonly coming: number;
  /** Why the rest have none; empty until the next provisioning round, as when their node has started to terminate. */
  readonly why: string;
  /** The nodes with room for them. */
  readonly rooms: readonly NotedRoom[];
}

/** Price of the room, in USD per hour. */
export function priceOf({ rooms }: Pick<RoomKept, 'rooms'>): number {
  return rooms.reduce((sum, { price }) => sum + price, 0);
}

/** The condition Provisioning of a buffer whose pod template was read. */
export function provisioningCondition(kept: RoomKept): ConditionChange {
  const { replicas, up, coming, why, rooms } = kept;
  const type = PROVISIONING;
  if (replicas === 0) return { type, status: 'False', reason: 'BufferEmpty', message: 'The buffer asks for 0 pods' };
  const cost = `$${priceOf(kept).toFixed(4)} an hour on ${rooms.length} ${rooms.length === 1 ? 'node' : 'nodes'}`;
  if (up === replicas) {
    const message = `There is room for all ${replicas} pods on nodes that are up: headroom of ${cost}`;
    return { type, status: 'True', reason: 'FitsExistingCapacity', message };
  }
  const missing = replicas - up - coming;
  const parts = [
    `there is room for ${up} of ${replicas} pods on nodes that are up`,
    ...(coming > 0 ? [`for ${coming} on nodes that are starting`] : []),
    ...(missing > 0 ? [`for ${missing} there is none: ${why || 'waiting for the next provisioning round'}`] : []),
  ];
  const [first = '', ...others] = parts;
  const message = [first.replace(/^t/, 'T'), ...others].join(', ').slice(0, 1024);
  return { type, status: 'False', reason: 'RequiresNewCapacity', message };
}

/** Applies changes to conditions; returns the same list if nothing changed. */
export function withChanges(
  before: readonly Condition[],
  changes: readonly ConditionChange[],
  generation: number,
  now: EpochMs,
): readonly Condition[] {
  const after = new Map(before.map((condition) => [condition.type, condition]));
  for (const { type, status, reason = type, message = '' } of changes) {
    const present = after.get(type);
    const lastTransitionTime =
      present?.status === status && present.lastTransitionTime ? present.lastTransitionTime : toTimestamp(now);
    after.set(type, { type, status, reason, message, observedGeneration: generation, lastTransitionTime });
  }
  const conditions = [...after.values()];
  return isDeepStrictEqual(conditions, before) ? before : conditions;
}
