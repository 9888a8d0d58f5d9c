/** `metadata.managedFields`: which manager last wrote each field. Updated on every write. */
import type { ManagedFieldsEntry } from '../../../apis/kubernetes/object.ts';
import type { Draft, Kind } from '../kinds/kind.ts';
import { type FieldSet, fromFieldsV1, isEmpty, minus, minusTrees, setOf, toFieldsV1, union } from './field-set.ts';
import { type Difference, difference } from './object-fields.ts';

/** The manager that writes, the time, and the subresource it uses. */
export interface FieldWriter {
  readonly manager: string | undefined;
  readonly time: string;
  readonly subresource?: string;
}

/** Metadata without an owner: the server writes it, or it identifies the object. */
const NOBODYS_METADATA = [
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
  'selfLink',
];
const NOBODYS_FIELDS = ['f:apiVersion', 'f:kind'];

/** The fields of a set that can have an owner. */
export function ownable(set: FieldSet): FieldSet {
  const metadata = set.children.get('f:metadata');
  const children = new Map(set.children);
  for (const field of NOBODYS_FIELDS) children.delete(field);
  if (metadata !== undefined) {
    const kept = new Map(metadata.children);
    for (const field of NOBODYS_METADATA) kept.delete(`f:${field}`);
    if (kept.size === 0) children.delete('f:metadata');
    else children.set('f:metadata', setOf(false, kept));
  }
  return setOf(false, children);
}

/** How an object changed, limited to fields that can have an owner. */
export function ownableDifference(kind: Kind, old: Draft | undefined, object: Draft): Difference {
  const { changed, removed } = difference(old ?? {}, object, kind.schema()?.schema);
  return { changed: ownable(changed), removed: ownable(removed) };
}

/** The new object with `managedFields` updated after a create or an update. */
export function withManagedFields(kind: Kind, old: Draft | undefined, object: Draft, writer: FieldWriter): Draft {
  const { manager } = writer;
  const entries = object.metadata.managedFields ?? [];
  if (manager === undefined || manager === '') return object;
  const { changed, removed } = ownableDifference(kind, old, object);
  if (isEmpty(changed) && isEmpty(removed)) return object;
  const isOwn = (entry: ManagedFieldsEntry): boolean =>
    entry.manager === manager &&
    entry.operation === 'Update' &&
    entry.apiVersion === kind.apiVersion &&
    (entry.subresource ?? '') === (writer.subresource ?? '');
  const own = entries.find(isOwn);
  const others = releaseFields(
    entries.filter((entry) => !isOwn(entry)),
    changed,
    removed,
  );
  const before = own === undefined ? undefined : fromFieldsV1(own.fieldsV1);
  const after = union(minusTrees(before ?? NOTHING, removed), changed);
  const managedFields = isEmpty(after) ? others : [...others, updateEntry(kind, manager, after, writer)];
  return { ...object, metadata: { ...object.metadata, managedFields: sorted(managedFields) } };
}

const NOTHING: FieldSet = { member: false, children: new Map() };

/** Removes fields that another manager has just written or removed, and drops entries that become empty. */
export function releaseFields(
  entries: readonly ManagedFieldsEntry[],
  changed: FieldSet,
  removed: FieldSet,
): ManagedFieldsEntry[] {
  return entries.flatMap((entry) => {
    const fields = fromFieldsV1(entry.fieldsV1);
    const left = minusTrees(minus(fields, changed), removed);
    if (left === fields) return [entry];
    return isEmpty(left) ? [] : [{ ...entry, fieldsV1: toFieldsV1(left) }];
  });
}

function updateEntry(kind: Kind, manager: string, fields: FieldSet, writer: FieldWriter): ManagedFieldsEntry {
  return {
    manager,
    operation: 'Update',
    apiVersion: kind.apiVersion,
    time: writer.time,
    fieldsType: 'FieldsV1',
    fieldsV1: toFieldsV1(fields),
    ...(writer.subresource === undefined ? {} : { subresource: writer.subresource }),
  };
}

/** Apply entries first, then by time. */
export function sorted(entries: readonly ManagedFieldsEntry[]): readonly ManagedFieldsEntry[] {
  const rank = (entry: ManagedFieldsEntry): string =>
    `${entry.operation === 'Apply' ? 0 : 1} ${entry.time ?? ''} ${entry.manager ?? ''}`;
  return [...entries].sort((a, b) => (rank(a) < rank(b) ? -1 : rank(a) > rank(b) ? 1 : 0));
}
