/** Patch: applies one of four patch types to the current object, then continues like an update. */
import type { KubeObject, ObjectKey } from '../../apis/kubernetes/object.ts';
import type { Scale } from '../../apis/kubernetes/scale.ts';
import type { Patch } from '../../kube/client.ts';
import { applied } from './apply/server-side-apply.ts';
import type { Draft, Kind } from './kinds/kind.ts';
import { metaTypeProblem } from './object-meta.ts';
import { applyJsonPatch } from './patch/json-patch.ts';
import { applyMergePatch, isFields } from './patch/merge-patch.ts';
import { applyStrategicMergePatch } from './patch/strategic-merge-patch.ts';
import { updateScale } from './scaling.ts';
import { required } from './schema/field-error.ts';
import { badRequest, conflict, invalid, unsupportedMediaType } from './status-errors.ts';
import { storageKey, type World, writeContext } from './world.ts';
import { createObject, updateObject, type WriteRequest } from './writing.ts';

const PATCH_OPTIONS = { group: 'meta.k8s.io', kind: 'PatchOptions', plural: 'patchoptions' };

/** Applies a patch. A server-side apply may create the object. */
export function patchObject(
  world: World,
  kind: Kind,
  key: ObjectKey,
  patch: Patch,
  request: WriteRequest,
  part: 'status' | 'scale' | undefined,
): KubeObject {
  if (patch.type === 'apply') {
    if (part === 'scale') throw badRequest('the scale subresource does not take server-side apply here');
    return applyObject(world, kind, key, patch.body as Draft, patch.force === true, request, part);
  }
  const change = (current: Draft): Draft => patched(current, patch, kind);
  if (part === 'scale') {
    const changeScale = (scale: Scale): Scale => change(scale as KubeObject as Draft) as KubeObject as Scale;
    return updateScale(world, kind, key, changeScale, request);
  }
  return updateObject(world, kind, key, part ?? 'object', change, request);
}

function patched(current: Draft, patch: Exclude<Patch, { type: 'apply' }>, kind: Kind): Draft {
  switch (patch.type) {
    case 'json':
      return asObject(applyJsonPatch(current, patch.operations));
    case 'merge':
      return asObject(applyMergePatch(current, patch.body));
    case 'strategic':
      if (!kind.builtIn) {
        throw unsupportedMediaType();
      }
      return asObject(applyStrategicMergePatch(current, patch.body, kind.schema()?.schema));
  }
}

function asObject(result: unknown): Draft {
  if (isFields(result) && isFields(result.metadata)) return result as unknown as Draft;
  throw badRequest('the patch leaves something that is not an object');
}

function applyObject(
  world: World,
  kind: Kind,
  key: ObjectKey,
  config: Draft,
  force: boolean,
  request: WriteRequest,
  part: 'status' | undefined,
): KubeObject {
  const manager = request.fieldManager ?? '';
  if (manager === '') throw invalid(PATCH_OPTIONS, '', [required('fieldManager', 'is required for apply patch')]);
  const problem = isFields(config) ? metaTypeProblem(config.metadata) : 'it is not an object';
  if (problem !== undefined) throw badRequest(`the applied configuration cannot be read: ${problem}`);
  if (config.kind !== kind.kind || config.apiVersion !== kind.apiVersion) {
    throw badRequest(
      `the applied configuration must have apiVersion ${kind.apiVersion} and kind ${kind.kind}, not ${config.apiVersion} and ${config.kind}`,
    );
  }
  const { now } = writeContext(world);
  const applier = { manager, time: now, force, ...(part === undefined ? {} : { subresource: part }) };
  const bySelf: WriteRequest = { ...request, managedFields: 'given' };
  const exists = world.store.get(kind.collection, storageKey(kind, key)) !== undefined;
  if (!exists && part === undefined) {
    if ((config.metadata?.resourceVersion ?? '') !== '' || (config.metadata?.uid ?? '') !== '') {
      const { uid = '', resourceVersion } = config.metadata;
      const problem =
        uid === ''
          ? `the object does not exist, but resourceVersion ${resourceVersion} was given`
          : `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
      throw conflict(kind, key.name, problem);
    }
    const created = createObject(world, kind, key, applied(kind, undefined, named(config, key), applier), bySelf);
    request.onCreated?.();
    return created;
  }
  const change = (current: Draft): Draft => {
    const given = named(config, key);
    const { resourceVersion = '' } = given.metadata;
    const result = applied(kind, current, given, applier);
    const version = resourceVersion === '' ? current.metadata.resourceVersion : resourceVersion;
    return {
      ...result,
      metadata: { ...result.metadata, ...(version === undefined ? {} : { resourceVersion: version }) },
    };
  };
  return updateObject(world, kind, key, part ?? 'object', change, bySelf);
}

/** The name comes from the URL; the body may leave it out. */
function named(config: Draft, key: ObjectKey): Draft {
  return { ...config, metadata: { ...key, ...config.metadata } };
}
