/** Get and list. */
import { matchesFields, parseFieldSelector } from '../../apis/kubernetes/field-selector.ts';
import { parseLabelSelector } from '../../apis/kubernetes/label-selector.ts';
import type { KubeObject, ObjectKey } from '../../apis/kubernetes/object.ts';
import type { ListPage, ListQuery, Selection } from '../../kube/client.ts';
import { hasCode } from '../../platform/errors.ts';
import { firstNotBefore } from '../collection.ts';
import { namespaceRange, type Snapshot } from '../store.ts';
import type { Kind } from './kinds/kind.ts';
import { badRequest, expired, revisionTooLarge } from './status-errors.ts';
import { mustExist, viewOf, type World } from './world.ts';

const TOKEN_TOO_OLD =
  'The provided continue parameter is too old to display a consistent list result. You must start a new list without the continue parameter.';

/** One object in this version of its kind. */
export function getObject(world: World, kind: Kind, key: ObjectKey): KubeObject {
  return viewOf(kind, mustExist(world, kind, key));
}

/** Whether a stored object is selected; undefined selects all objects. */
export type Filter = ((object: KubeObject) => boolean) | undefined;

/** Parses the selectors of a query for a kind. The caller filters by namespace. */
export function filterOf(kind: Kind, selection: Selection): Filter {
  const { labelSelector = '', fieldSelector = '' } = selection;
  if (labelSelector === '' && fieldSelector === '') return undefined;
  const labels = labelSelector === '' ? undefined : read(() => parseLabelSelector(labelSelector));
  const requirements = read(() => parseFieldSelector(fieldSelector));
  for (const { field } of requirements) {
    const known = field === 'metadata.name' || (field === 'metadata.namespace' && kind.namespaced);
    if (!known && !kind.selectableFieldNames.includes(field)) throw badRequest(unknownField(kind, field));
  }
  const needsFields = requirements.some(({ field }) => !field.startsWith('metadata.'));
  return (stored) => {
    if (labels !== undefined && !labels.matches(stored.metadata.labels)) return false;
    if (requirements.length === 0) return true;
    const fields = needsFields ? kind.selectableFields(viewOf(kind, stored)) : {};
    return matchesFields(requirements, (field) => {
      if (field === 'metadata.name') return stored.metadata.name;
      return field === 'metadata.namespace' ? stored.metadata.namespace : fields[field];
    });
  };
}

function unknownField(kind: Kind, field: string): string {
  return kind.builtIn && kind.selectableFieldNames.length > 0
    ? `field label not supported: ${field}`
    : `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`;
}

/** Turns an invalid selector into a 400. */
function read<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (hasCode(error, 'SELECTOR_INVALID')) throw badRequest(error.message);
    throw error;
  }
}

/** The name that a field selector requires, if any; then no search is needed. */
function nameIn(selection: Selection): string | undefined {
  if (selection.fieldSelector === undefined) return undefined;
  return parseFieldSelector(selection.fieldSelector).find(
    ({ field, operator }) => field === 'metadata.name' && operator === '=',
  )?.value;
}

/** A page of objects, all from one revision. */
export function listObjects(world: World, kind: Kind, query: ListQuery): ListPage<KubeObject> {
  const { store } = world;
  const start = query.continue === undefined || query.continue === '' ? undefined : readContinue(query.continue);
  const revision = start?.revision ?? exactRevision(world, kind, query);
  if (revision < store.oldestRevision(kind.collection)) throw expired(TOKEN_TOO_OLD);
  const snapshot = store.snapshot(kind.collection, revision);
  const filter = filterOf(kind, query);
  const [first, end] = rangeOf(snapshot, query);
  let index = start === undefined ? first : Math.max(first, firstNotBefore(snapshot.keys, `${start.after}\u0000`));

  const limit = query.limit === undefined || query.limit <= 0 ? Number.POSITIVE_INFINITY : query.limit;
  const items: KubeObject[] = [];
  let last = '';
  for (; index < end && items.length < limit; index++) {
    const key = snapshot.keys[index] as string;
    const object = snapshot.get(key);
    if (object === undefined || (filter !== undefined && !filter(object))) continue;
    items.push(viewOf(kind, object));
    last = key;
  }
  const page = { items, resourceVersion: String(revision) };
  if (index >= end) return page;
  const token = writeContinue({ revision, after: last });
  // With a selector, counting the remaining objects would mean checking them all.
  return filter === undefined
    ? { ...page, continue: token, remainingItemCount: end - index }
    : { ...page, continue: token };
}

function rangeOf(snapshot: Snapshot, query: ListQuery): [number, number] {
  const name = nameIn(query);
  if (name !== undefined && query.namespace !== undefined) {
    const key = `${query.namespace}/${name}`;
    const index = firstNotBefore(snapshot.keys, key);
    return [index, snapshot.keys[index] === key ? index + 1 : index];
  }
  return namespaceRange(snapshot.keys, query.namespace);
}

function exactRevision(world: World, kind: Kind, query: ListQuery): number {
  const { store } = world;
  const { resourceVersion, resourceVersionMatch } = query;
  if (resourceVersion === undefined || resourceVersion === '' || resourceVersion === '0') return store.revision;
  const asked = parseRevision(resourceVersion);
  if (asked > store.revision) throw revisionTooLarge(asked, store.revision);
  if (resourceVersionMatch !== 'Exact') return store.revision;
  if (asked < store.oldestRevision(kind.collection))
    throw expired(`The resourceVersion for the provided list is too old.`);
  return asked;
}

/** Parses a resource version sent by a client. */
export function parseRevision(text: string): number {
  if (!/^\d{1,15}$/.test(text))
    throw badRequest(
      `invalid resource version: resourceVersion: Invalid value: "${text}": strconv.ParseUint: parsing "${text}": invalid syntax`,
    );
  return Number(text);
}

interface ContinueToken {
  readonly revision: number;
  readonly after: string;
}

function writeContinue(token: ContinueToken): string {
  return Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: token.revision, start: token.after })).toString(
    'base64url',
  );
}

function readContinue(text: string): ContinueToken {
  try {
    const { rv, start } = JSON.parse(Buffer.from(text, 'base64url').toString()) as { rv: unknown; start: unknown };
    if (typeof rv === 'number' && typeof start === 'string') return { revision: rv, after: start };
  } catch {
    // Not one of our tokens.
  }
  throw badRequest('invalid continue token: continue key is not valid: it was not made by this server');
}
