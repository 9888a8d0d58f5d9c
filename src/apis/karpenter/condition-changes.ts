import type { EpochMs } from '../../platform/clock.ts';
import type { Condition } from '../kubernetes/object.ts';
import { type ConditionChange, type Conditioned, type ConditionTypes, withCondition } from './conditions.ts';

/** The conditions of the object after several changes; the same list where nothing changed. */
export function withConditions(
  types: ConditionTypes,
  object: Conditioned,
  changes: readonly ConditionChange[],
  now: EpochMs,
): readonly Condition[] {
  let conditions = object.status?.conditions ?? [];
  for (const change of changes) {
    conditions = withCondition(types, { metadata: object.metadata, status: { conditions } }, change, now);
  }
  return conditions;
}
