/**
 * Conditions in the status of an object. Each kind has a root condition that is computed from those it depends on: true
 * when all of them are, false as soon as one is false for the present generation, unknown otherwise.
 */
import { type EpochMs, parseTimestamp, toTimestamp } from '../../platform/clock.ts';
import type { Condition, ObjectMeta } from '../kubernetes/object.ts';

export interface ConditionTypes {
  readonly root: string;
  readonly dependents: readonly string[];
}

/** The part of an object that conditions need. */
export interface Conditioned {
  readonly metadata: ObjectMeta;
  readonly status?: { readonly conditions?: readonly Condition[] };
}

export interface ConditionChange {
  readonly type: string;
  readonly status: Condition['status'];
  /** In CamelCase; the type itself when absent. */
  readonly reason?: string;
  readonly message?: string;
}

/** The condition of that type. */
export function conditionOf({ status }: Conditioned, type: string): Condition | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}

/** Whether the condition is there and true. */
export function isTrue(object: Conditioned, type: string): boolean {
  return conditionOf(object, type)?.status === 'True';
}

/**
 * Applies a change: adds missing conditions of the kind and recomputes the root. Returns the same list where nothing changed.
 * The transition time of a condition is when its status last changed.
 */
export function withCondition(
  types: ConditionTypes,
  object: Conditioned,
  { type, status, reason = type, message = '' }: ConditionChange,
  now: EpochMs,
): readonly Condition[] {
  const { metadata } = object;
  const observedGeneration = metadata.generation ?? 0;
  const before = object.status?.conditions ?? [];
  const after = new Map(before.map((condition) => [condition.type, condition]));
  // Deletion raises the generation, and the spec is not judged again.
  if (metadata.deletionTimestamp !== undefined) {
    for (const condition of after.values()) after.set(condition.type, { ...condition, observedGeneration });
  }
  const set = (change: Required<ConditionChange>): void => {
    const present = after.get(change.type);
    const lastTransitionTime = present?.status === change.status ? present.lastTransitionTime : toTimestamp(now);
    const known = lastTransitionTime === undefined ? {} : { lastTransitionTime };
    after.set(change.type, { ...change, observedGeneration, ...known });
  };
  for (const missing of [types.root, ...types.dependents].filter((known) => !after.has(known))) {
    after.set(missing, {
      type: missing,
      status: 'Unknown',
      reason: 'AwaitingReconciliation',
      message: 'object is awaiting reconciliation',
      observedGeneration,
      // Unknown since the object was created.
      lastTransitionTime: metadata.creationTimestamp ?? toTimestamp(now),
    });
  }
  set({ type, status, reason, message });
  set(rootOf(types, after, observedGeneration));
  const sorted = inOrder(types.root, [...after.values()]);
  return isSame(before, sorted) ? before : sorted;
}

/** Removes a condition that the root does not depend on. */
export function withoutCondition(object: Conditioned, type: string): readonly Condition[] {
  const before = object.status?.conditions ?? [];
  return before.some((condition) => condition.type === type)
    ? before.filter((condition) => condition.type !== type)
    : before;
}

function rootOf(
  { root, dependents }: ConditionTypes,
  conditions: ReadonlyMap<string, Condition>,
  generation: number,
): Required<ConditionChange> {
  const unhealthy = dependents
    .map((type) => conditions.get(type) as Condition)
    .filter((condition) => condition.status !== 'True' || condition.observedGeneration !== generation)
    .sort((a, b) => changedAt(b) - changedAt(a));
  if (unhealthy.length === 0) return { type: root, status: 'True', reason: root, message: '' };
  const failed = unhealthy.some(
    (condition) => condition.status === 'False' && condition.observedGeneration === generation,
  );
  return {
    type: root,
    status: failed ? 'False' : 'Unknown',
    reason: failed ? 'UnhealthyDependents' : 'ReconcilingDependents',
    message: unhealthy.map(({ type, status }) => `${type}=${status}`).join(', '),
  };
}

/** Oldest change first and the root last, which is how people read them. */
function inOrder(root: string, conditions: Condition[]): Condition[] {
  return conditions.sort((a, b) => {
    if (a.type === root || b.type === root) return Number(a.type === root) - Number(b.type === root);
    return changedAt(a) - changedAt(b);
  });
}

function changedAt(condition: Condition): number {
  return parseTimestamp(condition.lastTransitionTime) ?? 0;
}

function isSame(a: readonly Condition[], b: readonly Condition[]): boolean {
  const fields = ['type', 'status', 'reason', 'message', 'observedGeneration', 'lastTransitionTime'] as const;
  return a.length === b.length && a.every((one, index) => fields.every((field) => one[field] === b[index]?.[field]));
}
