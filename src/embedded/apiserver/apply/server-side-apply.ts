/** Server-side apply: a manager says all that it wants, and what it wanted before and does not want now goes. */
import type { ManagedFieldsEntry } from '../../../apis/kubernetes/object.ts';
import type { StatusCause } from '../../../apis/kubernetes/status.ts';
import { sameJson } from '../../frozen.ts';
import type { Draft, Kind } from '../kinds/kind.ts';
import { applyConflict, badRequest } from '../status-errors.ts';
import {
  EMPTY,
  type FieldSet,
  fromFieldsV1,
  intersection,
  isEmpty,
  minus,
  pathsOf,
  pathText,
  sameSet,
  toFieldsV1,
  union,
} from './field-set.ts';
import { ownable, ownableDifference, releaseFields, sorted } from './managed-fields.ts';
import { fieldsOf, mergeApplied, withoutFields } from './object-fields.ts';

export interface Applier {
  readonly manager: string;
  readonly time: string;
  readonly force: boolean;
  readonly subresource?: string;
}

/** The object that results, with its managed fields; 409 when another manager owns a field that would change. */
export function applied(kind: Kind, live: Draft | undefined, config: Draft, applier: Applier): Draft {
  if ((config.metadata?.managedFields ?? []).length > 0) throw badRequest('metadata.managedFields must be nil');
  const schema = kind.schema()?.schema;
  const entries = live?.metadata.managedFields ?? [];
  const isOwn = (entry: ManagedFieldsEntry): boolean =>
    entry.manager === applier.manager &&
    entry.operation === 'Apply' &&
    (entry.subresource ?? '') === (applier.subresource ?? '');
  const own = entries.find(isOwn);
  const others = entries.filter((entry) => !isOwn(entry));
  const before = own === undefined ? EMPTY : fromFieldsV1(own.fieldsV1);
  const wanted = partOf(ownable(fieldsOf(config, schema)), kind, applier.subresource);

  const merged = live === undefined ? config : (mergeApplied(live, config, schema) as Draft);
  const kept = union(wanted, others.map((entry) => fromFieldsV1(entry.fieldsV1)).reduce(union, EMPTY));
  const object = withoutFields(merged, minus(before, wanted), kept, schema) as Draft;
  const { changed, removed } = ownableDifference(kind, live, object);
  if (!applier.force) refuseConflicts(others, changed);

  const unchanged = live !== undefined && isEmpty(changed) && isEmpty(removed);
  const sameFields = own !== undefined && sameSet(before, wanted);
  const entry = unchanged && sameFields ? own : applyEntry(kind, wanted, applier);
  const managedFields = sorted([...(isEmpty(wanted) ? [] : [entry]), ...releaseFields(others, changed, removed)]);
  const same = sameJson(managedFields, entries);
  return { ...object, metadata: { ...object.metadata, managedFields: same ? entries : managedFields } };
}

/** Through a subresource only its own part is written, and otherwise all but the status. */
function partOf(fields: FieldSet, kind: Kind, subresource: string | undefined): FieldSet {
  if (!kind.hasStatus) return fields;
  const children = [...fields.children].filter(([element]) => (element === 'f:status') === (subresource === 'status'));
  return { member: false, children: new Map(children) };
}

function applyEntry(kind: Kind, fields: FieldSet, applier: Applier): ManagedFieldsEntry {
  return {
    manager: applier.manager,
    operation: 'Apply',
    apiVersion: kind.apiVersion,
    time: applier.time,
    fieldsType: 'FieldsV1',
    fieldsV1: toFieldsV1(fields),
    ...(applier.subresource === undefined ? {} : { subresource: applier.subresource }),
  };
}

function refuseConflicts(others: readonly ManagedFieldsEntry[], changed: FieldSet): void {
  const conflicts = others.flatMap((entry) =>
    [...pathsOf(intersection(fromFieldsV1(entry.fieldsV1), changed))].map((path) => ({
      who: managerText(entry),
      path: pathText(path),
    })),
  );
  const [first] = conflicts;
  if (first === undefined) return;
  const causes: StatusCause[] = conflicts.map(({ who, path }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${who}`,
    field: path,
  }));
  if (conflicts.length === 1) {
    throw applyConflict(`Apply failed with 1 conflict: conflict with ${first.who}: ${first.path}`, causes);
  }
  const lines = [...new Set(conflicts.map(({ who }) => who))]
    .sort()
    .flatMap((who) => [
      `conflicts with ${who}:`,
      ...conflicts.filter((conflict) => conflict.who === who).map(({ path }) => `- ${path}`),
    ]);
  throw applyConflict(`Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`, causes);
}

function managerText(entry: ManagedFieldsEntry): string {
  const name = JSON.stringify(entry.manager ?? '');
  const who = entry.subresource === undefined ? name : `${name} with subresource ${JSON.stringify(entry.subresource)}`;
  return entry.operation === 'Update' ? `${who} using ${entry.apiVersion}` : who;
}
