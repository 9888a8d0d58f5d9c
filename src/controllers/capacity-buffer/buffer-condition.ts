/** What a CapacityBuffer says of the room that it keeps. Pure. */
import { isDeepStrictEqual } from 'node:util';
import { PROVISIONING } from '../../apis/autoscaling/capacity-buffer.ts';
import type { ConditionChange } from '../../apis/karpenter/conditions.ts';
import type { Condition } from '../../apis/kubernetes/object.ts';
import { type EpochMs, toTimestamp } from '../../platform/clock.ts';
import type { NotedRoom } from '../../state/headroom-note.ts';

/** How many virtual pods of a buffer are where. */
export interface RoomKept {
  readonly replicas: number;
  /** With room on nodes that are up. */
  readonly up: number;
  /** With room on nodes that are on their way. */
  readonly coming: number;
  /** Why others have none. */
  readonly why: string;
  /** The nodes with room for them. */
  readonly rooms: readonly NotedRoom[];
}

/** What the room costs an hour. */
export function priceOf({ rooms }: Pick<RoomKept, 'rooms'>): number {
  return rooms.reduce((sum, { price }) => sum + price, 0);
}

/** The condition Provisioning of a buffer whose pod is known. */
export function provisioningCondition(kept: RoomKept): ConditionChange {
  const { replicas, up, coming, why, rooms } = kept;
  const type = PROVISIONING;
  if (replicas === 0)
    return { type, status: 'False', reason: 'BufferEmpty', message: 'The buffer has room for no pods' };
  const cost = `$${priceOf(kept).toFixed(4)} an hour on ${rooms.length} ${rooms.length === 1 ? 'node' : 'nodes'}`;
  if (up === replicas) {
    const message = `There is room for all ${replicas} pods on nodes that are up: headroom of ${cost}`;
    return { type, status: 'True', reason: 'FitsExistingCapacity', message };
  }
  const missing = replicas - up - coming;
  const parts = [
    `there is room for ${up} of ${replicas} pods on nodes that are up`,
    ...(coming > 0 ? [`for ${coming} on nodes that are on their way`] : []),
    ...(missing > 0 ? [`for ${missing} there is none${why === '' ? '' : `: ${why}`}`] : []),
  ];
  const [first = '', ...others] = parts;
  const message = [first.replace(/^t/, 'T'), ...others].join(', ').slice(0, 1024);
  return { type, status: 'False', reason: 'RequiresNewCapacity', message };
}

/** The conditions after these changes; the same list where nothing changed. */
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
