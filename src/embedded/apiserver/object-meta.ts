/** Metadata rules for all kinds. */
import { labelKeyProblems, labelValueProblems, subdomainProblems } from '../../apis/kubernetes/label-syntax.ts';
import type { ObjectMeta } from '../../apis/kubernetes/object.ts';
import type { Kind } from './kinds/kind.ts';
import { isFields } from './patch/merge-patch.ts';
import { type FieldError, forbidden, invalid, required, tooLong } from './schema/field-error.ts';

/** The form a name must have; `path` allows anything that is valid in a URL path segment. */
export type NameForm = 'label' | 'subdomain' | 'service' | 'path';

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const LABEL_PATTERN = new RegExp(`^${LABEL}$`);
const LABEL_PROBLEM = `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '${LABEL}')`;
const SERVICE = '[a-z]([-a-z0-9]*[a-z0-9])?';
const SERVICE_PATTERN = new RegExp(`^${SERVICE}$`);
const SERVICE_PROBLEM = `a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '${SERVICE}')`;
const LONGEST_LABEL = 63;
const STANDARD_FINALIZERS = ['kubernetes', 'orphan', 'foregroundDeletion'];
const LARGEST_ANNOTATIONS = 256 * 1024;

/** Why a name does not have this form; empty if it does. */
export function nameProblems(name: string, form: NameForm): string[] {
  if (form === 'subdomain') return subdomainProblems(name);
  if (form === 'path') {
    if (name === '.' || name === '..') return [`may not be '${name}'`];
    return ['/', '%'].filter((part) => name.includes(part)).map((part) => `may not contain '${part}'`);
  }
  const problems = name.length > LONGEST_LABEL ? [`must be no more than ${LONGEST_LABEL} bytes`] : [];
  if (form === 'label' && !LABEL_PATTERN.test(name)) problems.push(LABEL_PROBLEM);
  if (form === 'service' && !SERVICE_PATTERN.test(name)) problems.push(SERVICE_PROBLEM);
  return problems;
}

const TEXT_FIELDS = [
  'name',
  'generateName',
  'namespace',
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'deletionTimestamp',
];
const TEXT_MAPS = ['labels', 'annotations'];
const LISTS = ['finalizers', 'ownerReferences', 'managedFields'];

/** Reports a metadata field of the wrong type; undefined if all are right. Checked first, since everything else reads metadata. */
export function metaTypeProblem(metadata: unknown): string | undefined {
  if (metadata === undefined || Object.isFrozen(metadata)) return undefined;
  if (!isFields(metadata)) return 'metadata is not an object';
  const wrong = (field: string, type: string): string => `metadata.${field} is not ${type}`;
  for (const field of TEXT_FIELDS) if (isOther(metadata[field], isText)) return wrong(field, 'a text');
  for (const field of TEXT_MAPS) if (isOther(metadata[field], isTextMap)) return wrong(field, 'a map of texts');
  for (const field of LISTS) if (isOther(metadata[field], isList)) return wrong(field, 'a list');
  if (isOther(metadata.finalizers, (list) => isList(list) && list.every(isText)))
    return wrong('finalizers', 'a list of texts');
  for (const field of ['ownerReferences', 'managedFields']) {
    if (isOther(metadata[field], (list) => isList(list) && list.every(isFields)))
      return wrong(field, 'a list of objects');
  }
  return undefined;
}

function isOther(value: unknown, isRight: (value: unknown) => boolean): boolean {
  return value !== undefined && value !== null && !isRight(value);
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

function isTextMap(value: unknown): boolean {
  return isFields(value) && Object.values(value).every(isText);
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

/** Validates name, labels, annotations, owners and finalizers, except unchanged ones. */
export function validateMeta(kind: Kind, metadata: ObjectMeta, old: ObjectMeta = {}): FieldError[] {
  const { namespaced } = kind;
  const form = kind.rules.name ?? 'subdomain';
  // Of the built-in kinds, only definitions accept an unknown finalizer without a domain; custom resources accept it too.
  const needsDomain = kind.builtIn && kind.group !== 'apiextensions.k8s.io';
  const { name = '', finalizers = [] } = metadata;
  const errors: FieldError[] = [];
  if (name === '') errors.push(required('metadata.name', 'name or generateName is required'));
  else if (name !== old.name)
    for (const problem of nameProblems(name, form)) errors.push(invalid('metadata.name', name, problem));
  if (namespaced && (metadata.namespace ?? '') === '') errors.push(required('metadata.namespace'));
  const { labels, annotations, ownerReferences } = metadata;
  if (labels !== old.labels) errors.push(...validateLabels(labels, 'metadata.labels'));
  if (annotations !== old.annotations) errors.push(...validateAnnotations(annotations));
  if (ownerReferences !== undefined && ownerReferences !== old.ownerReferences) {
    errors.push(...validateOwners(ownerReferences));
  }
  for (const [index, finalizer] of finalizers.entries()) {
    const problems = labelKeyProblems(finalizer);
    if (needsDomain && problems.length === 0 && !finalizer.includes('/') && !STANDARD_FINALIZERS.includes(finalizer)) {
      problems.push('name is neither a standard finalizer name nor is it fully qualified');
    }
    for (const problem of problems) errors.push(invalid(`metadata.finalizers[${index}]`, finalizer, problem));
  }
  return errors;
}

/** Validates labels; `field` is their path. */
export function validateLabels(labels: ObjectMeta['labels'], field: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const key in labels) {
    const value = labels[key] ?? '';
    for (const problem of labelKeyProblems(key)) errors.push(invalid(field, key, problem));
    for (const problem of labelValueProblems(value)) errors.push(invalid(field, value, problem));
  }
  return errors;
}

function validateAnnotations(annotations: ObjectMeta['annotations']): FieldError[] {
  const errors: FieldError[] = [];
  let size = 0;
  for (const key in annotations) {
    for (const problem of labelKeyProblems(key.toLowerCase())) {
      errors.push(invalid('metadata.annotations', key, problem));
    }
    size += key.length + (annotations[key]?.length ?? 0);
  }
  if (size > LARGEST_ANNOTATIONS) errors.push(tooLong('metadata.annotations', LARGEST_ANNOTATIONS));
  return errors;
}

function validateOwners(owners: NonNullable<ObjectMeta['ownerReferences']>): FieldError[] {
  const field = 'metadata.ownerReferences';
  const errors: FieldError[] = [];
  for (const owner of owners) {
    if ((owner.apiVersion ?? '') === '') errors.push(invalid(`${field}.apiVersion`, '', 'version must not be empty'));
    for (const part of ['kind', 'name', 'uid'] as const) {
      if ((owner[part] ?? '') === '') errors.push(invalid(`${field}.${part}`, '', 'must not be empty'));
    }
  }
  const [first, second] = owners.filter((owner) => owner.controller === true);
  if (first !== undefined && second !== undefined) {
    const found = `${first.kind}/${first.name} and ${second.kind}/${second.name}`;
    const detail = `Only one reference can have Controller set to true. Found "true" in references for ${found}`;
    errors.push(invalid(field, owners as never, detail));
  }
  return errors;
}

/** Refuses metadata changes that an update may not make. */
export function validateMetaUpdate(metadata: ObjectMeta, old: ObjectMeta): FieldError[] {
  if (old.deletionTimestamp === undefined) return [];
  const added = (metadata.finalizers ?? []).filter((finalizer) => !(old.finalizers ?? []).includes(finalizer));
  if (added.length === 0) return [];
  const found = added.map((finalizer) => JSON.stringify(finalizer)).join(', ');
  const detail = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${found}}`;
  return [forbidden('metadata.finalizers', detail)];
}
