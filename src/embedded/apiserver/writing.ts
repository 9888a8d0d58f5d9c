/** Create and update: every object enters the store through here. */
import type { KubeObject, ObjectKey, ObjectMeta } from '../../apis/kubernetes/object.ts';
import { sameJson } from '../frozen.ts';
import { admit } from './admission/validating-policies.ts';
import { withManagedFields } from './apply/managed-fields.ts';
import { checkFields } from './field-validation.ts';
import type { Draft, Kind, WriteContext } from './kinds/kind.ts';
import { checkNamespaceTakesContent } from './namespace-lifecycle.ts';
import { metaTypeProblem, validateMeta, validateMetaUpdate } from './object-meta.ts';
import { type FieldError, invalid as invalidField } from './schema/field-error.ts';
import { alreadyExists, badRequest, conflict, invalid, modifiedMeanwhile, serverFailure } from './status-errors.ts';
import { mustExist, storageKey, storedForm, viewOf, type World, writeContext } from './world.ts';

/** The options of a write. */
export interface WriteRequest {
  readonly fieldManager?: string;
  readonly dryRun?: boolean;
  readonly fieldValidation?: 'Strict' | 'Warn' | 'Ignore';
  /** Duplicate fields in the text of the request; only its parser can find them. */
  readonly duplicateFields?: readonly string[];
  /** `given`: the object already has its managed fields, calculated by server-side apply. */
  readonly managedFields?: 'given';
  /** Called when a server-side apply creates a new object. */
  readonly onCreated?: () => void;
  /** Receives warnings for the client. */
  readonly warn?: (warning: string) => void;
}

/** The part of an object that an update writes. */
export type UpdatedPart = 'object' | 'status';

const GENERATED_LENGTH = 5;
const MOST_GENERATED = 8;
const LONGEST_GENERATED_BASE = 58;

/** Creates an object: names it, fills in defaults, validates and stores it. */
export function createObject(
  world: World,
  kind: Kind,
  key: Partial<ObjectKey>,
  body: Draft,
  request: WriteRequest,
): KubeObject {
  checkType(kind, body);
  const named = withNames(world, kind, key, body);
  const name = named.metadata.name ?? '';
  if ((named.metadata.resourceVersion ?? '') !== '') {
    throw serverFailure('resourceVersion should not be set on objects to be created');
  }
  if (kind.namespaced) checkNamespaceTakesContent(world, kind, named.metadata.namespace ?? '', name);

  const context = writeContext(world);
  let object = storedForm(kind, checkFields(kind, named, request));
  object = kind.rules.defaults?.(object, context) ?? object;
  if (kind.hasStatus && !kind.rules.keepsStatusOnCreate) object = without(object, 'status');
  const { managedFields } = object.metadata;
  object = { ...object, metadata: newMeta(world, kind, object.metadata, context.now) };
  object = kind.rules.prepareCreate?.(object, context) ?? object;
  if (kind.builtIn && kind.hasStatus) object = { ...object, status: object.status ?? {} };
  const errors = validate(kind, object);
  if (errors.length > 0) throw invalid(kind, name, errors);
  if (world.store.get(kind.collection, storageKey(kind, { name, ...namespaceOf(object) })) !== undefined) {
    throw alreadyExists(kind, name);
  }
  admit(world, { operation: 'CREATE', kind, name, object, ...defined('dryRun', request.dryRun) });
  if (request.managedFields === 'given') {
    object = { ...object, metadata: { ...object.metadata, ...defined('managedFields', managedFields) } };
  } else {
    object = withManagedFields(kind, undefined, object, { manager: request.fieldManager, time: context.now });
  }
  if (request.dryRun === true) return viewOf(kind, object);
  return viewOf(kind, world.store.put(kind.collection, object));
}

/**
 * Updates an object. `change` gets the current object in this version of the kind and returns the new one. The server
 * keeps the fields it owns.
 */
export function updateObject(
  world: World,
  kind: Kind,
  key: ObjectKey,
  part: UpdatedPart,
  change: (current: Draft) => Draft,
  request: WriteRequest,
): KubeObject {
  const stored = mustExist(world, kind, key);
  const current = viewOf(kind, stored) as Draft;
  const changed = change(current);
  checkType(kind, changed);
  const metadata = changed.metadata ?? {};
  const body = { ...changed, metadata };
  if ((metadata.name ?? '') !== key.name) {
    throw badRequest(
      `the name of the object (${metadata.name ?? ''}) does not match the name on the URL (${key.name})`,
    );
  }
  checkNamespace(key.namespace, metadata.namespace);
  checkPreconditions(kind, key.name, stored, metadata);

  const context = writeContext(world);
  let object = storedForm(kind, checkFields(kind, body, request, current));
  if (part === 'object') object = withDefaults(kind, object, stored, context);
  object = part === 'status' ? statusUpdate(kind, object, stored) : mainUpdate(kind, object, stored);
  if (part === 'object') object = kind.rules.prepareUpdate?.(object, stored, context) ?? object;
  object = { ...object, metadata: keptMeta(kind, object, stored) };
  const errors = [...validateMetaUpdate(object.metadata, stored.metadata), ...validate(kind, object, stored)];
  if (errors.length > 0) throw invalid(kind, key.name, errors);
  admit(world, {
    ...{ operation: 'UPDATE', kind, name: key.name, object, oldObject: stored, ...defined('dryRun', request.dryRun) },
    ...(part === 'status' ? { subresource: 'status' } : {}),
  });
  if (request.managedFields !== 'given') {
    object = withManagedFields(kind, stored, object, {
      manager: request.fieldManager,
      time: context.now,
      ...(part === 'status' ? { subresource: 'status' } : {}),
    });
  }
  return storeUpdate(world, kind, key, stored, object, request.dryRun === true);
}

/** An unchanged spec already has its defaults, and stays shared with the stored object. */
function withDefaults(kind: Kind, object: Draft, stored: Draft, context: WriteContext): Draft {
  const filled = kind.rules.defaults?.(object, context) ?? object;
  return object.spec !== undefined && object.spec === stored.spec ? { ...filled, spec: object.spec } : filled;
}

/** Stores an updated object, or removes it if it was only waiting for its last finalizer. */
export function storeUpdate(
  world: World,
  kind: Kind,
  key: ObjectKey,
  stored: Draft,
  object: Draft,
  dryRun: boolean,
): KubeObject {
  if (sameJson(stored, object)) return viewOf(kind, stored);
  if (dryRun) return viewOf(kind, object);
  if (isReadyToGo(kind, object)) {
    const last = world.store.remove(kind.collection, storageKey(kind, key), object);
    return viewOf(kind, last ?? object);
  }
  return viewOf(kind, world.store.put(kind.collection, object));
}

/** Whether the object is marked for deletion and nothing holds it: no finalizer, grace period or rule of its kind. */
export function isReadyToGo(kind: Kind, object: Draft): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = object.metadata;
  if (deletionTimestamp === undefined || finalizers.length > 0 || deletionGracePeriodSeconds > 0) return false;
  return kind.rules.heldBack?.(object) !== true;
}

function validate(kind: Kind, object: Draft, old?: Draft): FieldError[] {
  const errors = validateMeta(kind, object.metadata, old?.metadata);
  errors.push(...(kind.rules.validate?.(object, old) ?? []));
  if (!kind.builtIn) errors.push(...(kind.schema()?.validate(object as never, old as never) ?? []));
  return errors;
}

function checkType(kind: Kind, body: Draft): void {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw badRequest(`the object provided is unrecognized (must be of type ${kind.kind})`);
  }
  if (body.kind !== undefined && body.kind !== '' && body.kind !== kind.kind) {
    throw badRequest(
      `${body.kind} in version "${kind.version}" cannot be handled as a ${kind.kind}: no kind "${body.kind}" is registered for version "${body.apiVersion}" here`,
    );
  }
  if (body.apiVersion !== undefined && body.apiVersion !== '' && body.apiVersion !== kind.apiVersion) {
    throw badRequest(
      `the API version in the data (${body.apiVersion}) does not match the expected API version (${kind.apiVersion})`,
    );
  }
  const problem = metaTypeProblem(body.metadata);
  if (problem !== undefined) {
    throw badRequest(`${kind.kind} in version "${kind.version}" cannot be handled as a ${kind.kind}: ${problem}`);
  }
}

function checkNamespace(asked: string | undefined, inBody: string | undefined): void {
  if (inBody === undefined || inBody === '' || asked === undefined || inBody === asked) return;
  throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
}

function withNames(world: World, kind: Kind, key: Partial<ObjectKey>, body: Draft): Draft {
  const given = body.metadata ?? {};
  checkNamespace(kind.namespaced ? key.namespace : undefined, given.namespace);
  let name = given.name ?? '';
  if (key.name !== undefined && name !== '' && name !== key.name) {
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${key.name})`);
  }
  name = key.name ?? name;
  const namespace = kind.namespaced ? { namespace: key.namespace ?? given.namespace ?? '' } : {};
  if (name === '') name = generatedName(world, kind, given.generateName ?? '', namespace);
  const { namespace: _, ...rest } = given;
  const metadata: ObjectMeta = { ...rest, name };
  return {
    ...body,
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    metadata: { ...metadata, ...namespace },
  };
}

/** A name with this prefix. It can be taken already, if every try found a taken one. */
function generatedName(world: World, kind: Kind, beginning: string, namespace: Partial<ObjectKey>): string {
  if (beginning === '') return '';
  let name = '';
  for (let attempt = 0; attempt < MOST_GENERATED; attempt++) {
    name = `${beginning.slice(0, LONGEST_GENERATED_BASE)}${world.random.suffix(GENERATED_LENGTH)}`;
    if (world.store.get(kind.collection, storageKey(kind, { name, ...namespace })) === undefined) break;
  }
  return name;
}

/** Metadata of a new object; the server's fields replace what was sent. */
function newMeta(world: World, kind: Kind, metadata: ObjectMeta, now: string): ObjectMeta {
  const {
    deletionTimestamp: _,
    deletionGracePeriodSeconds: __,
    managedFields: ___,
    resourceVersion: ____,
    generation: _____,
    ...given
  } = metadata;
  return {
    ...given,
    uid: world.random.uuid(),
    ...(kind.hasGeneration ? { generation: 1 } : {}),
    creationTimestamp: now,
  };
}

function checkPreconditions(kind: Kind, name: string, stored: Draft, metadata: ObjectMeta): void {
  const { uid, resourceVersion } = metadata;
  if (uid !== undefined && uid !== '' && uid !== stored.metadata.uid) {
    const problem = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${stored.metadata.uid}`;
    throw conflict(kind, name, problem);
  }
  if (resourceVersion === undefined || resourceVersion === '' || resourceVersion === '0') {
    if (kind.builtIn) return;
    throw invalid(kind, name, [invalidField('metadata.resourceVersion', 0, 'must be specified for an update')]);
  }
  if (resourceVersion !== stored.metadata.resourceVersion) throw modifiedMeanwhile(kind, name);
}

function mainUpdate(kind: Kind, object: Draft, stored: Draft): Draft {
  if (!kind.hasStatus) return object;
  return stored.status === undefined ? without(object, 'status') : { ...object, status: stored.status };
}

function statusUpdate(kind: Kind, object: Draft, stored: Draft): Draft {
  // Custom resources accept only the status here; built-in kinds also accept labels and other metadata.
  const metadata = kind.builtIn ? withOwners(object.metadata, stored.metadata.ownerReferences) : stored.metadata;
  const base = { ...stored, metadata };
  return object.status === undefined ? without(base, 'status') : { ...base, status: object.status };
}

function withOwners(metadata: ObjectMeta, ownerReferences: ObjectMeta['ownerReferences']): ObjectMeta {
  const { ownerReferences: _, ...rest } = metadata;
  return ownerReferences === undefined ? rest : { ...rest, ownerReferences };
}

/** Metadata of an update; fields that a client cannot change are taken from the stored object. */
function keptMeta(kind: Kind, object: Draft, stored: Draft): ObjectMeta {
  const { deletionTimestamp: _, deletionGracePeriodSeconds: __, generation: ___, ...given } = object.metadata;
  const old = stored.metadata;
  const generation = old.generation ?? (kind.hasGeneration ? 1 : undefined);
  return {
    ...given,
    ...namespaceOf(stored),
    ...defined('uid', old.uid),
    ...defined('creationTimestamp', old.creationTimestamp),
    ...defined('resourceVersion', old.resourceVersion),
    ...defined('deletionTimestamp', old.deletionTimestamp),
    ...defined('deletionGracePeriodSeconds', old.deletionGracePeriodSeconds),
    ...defined('managedFields', given.managedFields ?? old.managedFields),
    ...defined(
      'generation',
      generation !== undefined && wantsChanged(kind, object, stored) ? generation + 1 : generation,
    ),
  };
}

function defined<Name extends string, T>(name: Name, value: T | undefined): { [_ in Name]?: T } {
  return (value === undefined ? {} : { [name]: value }) as { [_ in Name]?: T };
}

/** Whether anything but metadata and status differs. */
function wantsChanged(kind: Kind, object: Draft, stored: Draft): boolean {
  if (!kind.hasGeneration) return false;
  for (const field of new Set([...Object.keys(object), ...Object.keys(stored)])) {
    if (field === 'metadata' || (field === 'status' && kind.hasStatus)) continue;
    if (!sameJson(object[field], stored[field])) return true;
  }
  return false;
}

function namespaceOf(object: KubeObject): { namespace?: string } {
  return object.metadata.namespace === undefined ? {} : { namespace: object.metadata.namespace };
}

/** The object without one of its fields. */
export function without(object: Draft, field: string): Draft {
  if (object[field] === undefined) return object;
  const { [field]: _, ...rest } = object;
  return rest as Draft;
}
