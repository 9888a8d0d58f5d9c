/** Server-side apply: a manager sends all fields it wants. Fields it applied before and now leaves out are removed. */
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

/** The manager that applies, with its options. */
export interface Applier {
  readonly manager: string;
  readonly time: string;
  readonly force: boolean;
  readonly subresource?: string;
}

/** The resulting object with its managed fields; 409 if it would change a field that another manager owns. */
export function applied(kind: Kind, live: Draft | undefined, given: Draft, applier: Applier): Draft {
  if ((given.metadata?.managedFields ?? []).length > 0) throw badRequest('metadata.managedFields must be nil');
  const config = partOf(given, kind, applier.subresource);
  const schema = kind.schema()?.schema;
  const entries = live?.metadata.managedFields ?? [];
  const isOwn = (entry: ManagedFieldsEntry): boolean =>
    entry.manager === applier.manager &&
    entry.operation === 'Apply' &&
    (entry.subresource ?? '') === (applier.subresource ?? '');
  const own = entries.find(isOwn);
  const others = entries.filter((entry) => !isOwn(entry));
  const before = own === undefined ? EMPTY : fromFieldsV1(own.fieldsV1);
  const wanted = ownable(fieldsOf(config, schema));

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

/** The status subresource writes only the status; other requests write everything else. */
function partOf(config: Draft, kind: Kind, subresource: string | undefined): Draft {
  if (!kind.hasStatus) return config;
  const { status, ...rest } = config;
  if (subresource !== 'status') return rest as Draft;
  const { name, namespace, resourceVersion, uid } = config.metadata;
  const metadata = JSON.parse(JSON.stringify({ name, namespace, resourceVersion, uid })) as Draft['metadata'];
  return { apiVersion: config.apiVersion, kind: config.kind, metadata, ...(status && { status }) };
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
