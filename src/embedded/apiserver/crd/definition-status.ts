/** Decides which names a definition gets, and its status. */
import type { Condition } from '../../../apis/kubernetes/object.ts';
import type { CustomResourceDefinition, CustomResourceNames } from './custom-resource-definition.ts';

type Status = NonNullable<CustomResourceDefinition['status']>;

/**
 * The status after a write: acceptedNames, conditions NamesAccepted and Established, storedVersions. `others` are the
 * existing definitions; other groups are ignored. Returns the old status itself if nothing changes.
 */
export function definitionStatus(
  definition: CustomResourceDefinition,
  others: readonly CustomResourceDefinition[],
  now: string,
): Status {
  const status = definition.status ?? {};
  const { names, conflict } = acceptNames(definition, others);
  const established =
    status.conditions?.some(({ type, status }) => type === 'Established' && status === 'True') === true;
  const fresh = [
    conflict === undefined
      ? condition('NamesAccepted', 'True', 'NoConflicts', 'no conflicts found')
      : condition('NamesAccepted', 'False', conflict.reason, conflict.message),
    conflict === undefined || established
      ? condition('Established', 'True', 'InitialNamesAccepted', 'the initial names have been accepted')
      : condition('Established', 'False', 'NotAccepted', 'not all names are accepted'),
  ];
  const stored = definition.spec.versions.find((version) => version.storage)?.name;
  const known = status.storedVersions ?? [];
  return {
    ...status,
    conditions: mergeConditions(status.conditions ?? [], fresh, now),
    acceptedNames: names,
    storedVersions: stored === undefined || known.includes(stored) ? known : [...known, stored],
  };
}

interface Conflict {
  readonly reason: string;
  readonly message: string;
}

/** Accepts each name that is free or already accepted for this definition, even if another name conflicts. */
function acceptNames(
  definition: CustomResourceDefinition,
  others: readonly CustomResourceDefinition[],
): { readonly names: CustomResourceNames; readonly conflict: Conflict | undefined } {
  const { resources, kinds } = takenNames(definition, others);
  const wanted = definition.spec.names;
  const accepted: Partial<CustomResourceNames> = definition.status?.acceptedNames ?? {};
  const names: Record<string, unknown> = { ...accepted };
  let conflict: Conflict | undefined;
  const claim = (
    field: 'plural' | 'singular' | 'kind' | 'listKind',
    taken: ReadonlySet<string>,
    reason: string,
  ): void => {
    const name = wanted[field] ?? '';
    if (name !== accepted[field] && taken.has(name)) conflict = { reason, message: inUse(name) };
    else names[field] = name;
  };
  claim('plural', resources, 'PluralConflict');
  claim('singular', resources, 'SingularConflict');
  const clashing = (wanted.shortNames ?? []).filter(
    (name) => !accepted.shortNames?.includes(name) && resources.has(name),
  );
  if (clashing.length > 0) conflict = { reason: 'ShortNamesConflict', message: all(clashing.map(inUse)) };
  else if (wanted.shortNames !== undefined) names.shortNames = wanted.shortNames;
  else delete names.shortNames;
  claim('kind', kinds, 'KindConflict');
  claim('listKind', kinds, 'ListKindConflict');
  if (wanted.categories !== undefined) names.categories = wanted.categories;
  else delete names.categories;
  // `plural` and `kind` are always shown, even if no name is accepted.
  return { names: { plural: '', kind: '', ...names } as CustomResourceNames, conflict };
}

function inUse(name: string): string {
  return `"${name}" is already in use`;
}

function all(messages: readonly string[]): string {
  return messages.length === 1 ? (messages[0] as string) : `[${messages.join(', ')}]`;
}

function takenNames(
  definition: CustomResourceDefinition,
  others: readonly CustomResourceDefinition[],
): { readonly resources: ReadonlySet<string>; readonly kinds: ReadonlySet<string> } {
  const resources = new Set<string>();
  const kinds = new Set<string>();
  for (const other of others) {
    const names = other.status?.acceptedNames;
    if (names === undefined || other.spec.group !== definition.spec.group) continue;
    if (other.metadata.name === definition.metadata.name) continue;
    for (const name of [names.plural, names.singular, ...(names.shortNames ?? [])]) if (name) resources.add(name);
    for (const name of [names.kind, names.listKind]) if (name) kinds.add(name);
  }
  return { resources, kinds };
}

function condition(type: string, status: 'True' | 'False', reason: string, message: string): Condition {
  return { type, status, reason, message };
}

/** Replaces conditions of the same type. lastTransitionTime changes only with the status. */
function mergeConditions(old: readonly Condition[], fresh: readonly Condition[], now: string): Condition[] {
  const kept = old.map((known) => {
    const update = fresh.find(({ type }) => type === known.type);
    if (update === undefined) return known;
    const lastTransitionTime = update.status === known.status ? (known.lastTransitionTime ?? now) : now;
    return { ...update, lastTransitionTime };
  });
  const added = fresh.filter(({ type }) => !old.some((known) => known.type === type));
  return [...kept, ...added.map((update) => ({ ...update, lastTransitionTime: now }))];
}
