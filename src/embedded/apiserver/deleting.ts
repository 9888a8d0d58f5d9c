/** Delete: at once, after a grace period, or when the last finalizer is gone. */
import type { KubeObject, ObjectKey, ObjectMeta } from '../../apis/kubernetes/object.ts';
import type { Status } from '../../apis/kubernetes/status.ts';
import { type EpochMs, parseTimestamp, toTimestamp } from '../../platform/clock.ts';
import { admit } from './admission/validating-policies.ts';
import type { Draft, Kind } from './kinds/kind.ts';
import { deletedStatus, preconditionFailed } from './status-errors.ts';
import { mustExist, storageKey, viewOf, type World, writeContext } from './world.ts';
import { isReadyToGo } from './writing.ts';

/** The DeleteOptions that have an effect here. */
export interface DeleteRequest {
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly propagationPolicy?: 'Foreground' | 'Background' | 'Orphan';
  readonly gracePeriodSeconds?: number;
  readonly dryRun?: boolean;
}

/** Holds an owner until the dependents that block its deletion are gone. */
export const FOREGROUND_FINALIZER = 'foregroundDeletion';
/** Holds an owner until its dependents no longer refer to it. */
export const ORPHAN_FINALIZER = 'orphan';

/** Returns the object if it still exists, or a Status if it was removed. */
export function deleteObject(world: World, kind: Kind, key: ObjectKey, request: DeleteRequest): KubeObject | Status {
  const stored = mustExist(world, kind, key);
  checkPreconditions(kind, key.name, stored.metadata, request);
  kind.rules.checkDelete?.(stored);
  admit(world, { operation: 'DELETE', kind, name: key.name, oldObject: stored });
  const marked = markForDeletion(world, kind, stored, request);
  const { uid } = stored.metadata;
  if (isReadyToGo(kind, marked)) {
    if (request.dryRun !== true) world.store.remove(kind.collection, storageKey(kind, key), marked);
    return deletedStatus(kind, key.name, uid);
  }
  if (marked === stored || request.dryRun === true) return viewOf(kind, marked);
  return viewOf(kind, world.store.put(kind.collection, marked));
}

/** Refuses if the uid or resourceVersion is not the one that the caller expects. */
export function checkPreconditions(
  kind: Kind,
  name: string,
  metadata: ObjectMeta,
  { preconditions }: DeleteRequest,
): void {
  const { uid, resourceVersion } = preconditions ?? {};
  if (uid !== undefined && uid !== metadata.uid) {
    const problem = `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`;
    throw preconditionFailed(kind, name, problem);
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    const problem = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`;
    throw preconditionFailed(kind, name, problem);
  }
}

/** The object with its deletion fields set; the same object if nothing changes. */
function markForDeletion(world: World, kind: Kind, stored: Draft, request: DeleteRequest): Draft {
  const { metadata } = stored;
  const now = world.clock.now();
  const finalizers = deletionFinalizers(metadata.finalizers ?? [], request.propagationPolicy);
  const asked = graceOf(kind, stored, request);
  const already = parseTimestamp(metadata.deletionTimestamp);
  if (already !== undefined) {
    const grace = metadata.deletionGracePeriodSeconds ?? 0;
    const sameFinalizers = finalizers.length === (metadata.finalizers ?? []).length;
    if (asked >= grace && sameFinalizers) return stored;
    const shorter = Math.min(asked, grace);
    const end = (already - (grace - shorter) * 1000) as EpochMs;
    return withDeletion(stored, finalizers, toTimestamp(end), shorter);
  }
  const end = toTimestamp((now + asked * 1000) as EpochMs);
  const result = withDeletion(stored, finalizers, end, asked);
  const generation = metadata.generation === undefined ? {} : { generation: metadata.generation + 1 };
  const noted = { ...result, metadata: { ...result.metadata, ...generation } };
  return kind.rules.prepareDelete?.(noted, writeContext(world)) ?? noted;
}

function graceOf(kind: Kind, object: Draft, request: DeleteRequest): number {
  const grace = kind.rules.gracePeriodSeconds?.(object, request.gracePeriodSeconds) ?? 0;
  return grace < 0 ? 1 : grace;
}

function withDeletion(object: Draft, finalizers: readonly string[], end: string, grace: number): Draft {
  const { finalizers: _, ...metadata } = object.metadata;
  const held = finalizers.length === 0 ? metadata : { ...metadata, finalizers };
  return { ...object, metadata: { ...held, deletionTimestamp: end, deletionGracePeriodSeconds: grace } };
}

/** The garbage collector reads the propagation policy from a finalizer. A newly requested policy replaces the old one. */
function deletionFinalizers(
  finalizers: readonly string[],
  policy: DeleteRequest['propagationPolicy'],
): readonly string[] {
  if (policy === undefined) return finalizers;
  const others = finalizers.filter((name) => name !== FOREGROUND_FINALIZER && name !== ORPHAN_FINALIZER);
  if (policy === 'Background') return others;
  return [...others, policy === 'Foreground' ? FOREGROUND_FINALIZER : ORPHAN_FINALIZER];
}
