/** Patch: the present object, changed as one of four kinds of patch says, goes the way of an update. */
import type { KubeObject, ObjectKey } from '../../apis/kubernetes/object.ts';
import type { Scale } from '../../apis/kubernetes/scale.ts';
import type { Patch } from '../../kube/client.ts';
import type { Draft, Kind } from './kinds/kind.ts';
import { applyJsonPatch } from './patch/json-patch.ts';
import { applyMergePatch } from './patch/merge-patch.ts';
import { updateScale } from './scaling.ts';
import { badRequest } from './status-errors.ts';
import type { World } from './world.ts';
import { updateObject, type WriteRequest } from './writing.ts';

export function patchObject(
  world: World,
  kind: Kind,
  key: ObjectKey,
  patch: Patch,
  request: WriteRequest,
  part: 'status' | 'scale' | undefined,
): KubeObject {
  const change = (current: Draft): Draft => patched(current, patch, kind);
  if (part === 'scale')
    return updateScale(
      world,
      kind,
      key,
      (scale) => change(scale as KubeObject as Draft) as KubeObject as Scale,
      request,
    );
  return updateObject(world, kind, key, part ?? 'object', change, request);
}

function patched(current: Draft, patch: Patch, _kind: Kind): Draft {
  switch (patch.type) {
    case 'json':
      return applyJsonPatch(current, patch.operations) as Draft;
    case 'merge':
      return applyMergePatch(current, patch.body) as Draft;
    default:
      throw badRequest(`patches of type ${patch.type} are not understood`);
  }
}
