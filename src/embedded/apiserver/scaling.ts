/** The scale subresource: reads and writes the replica count of every kind that has one, in one form. */
import { compileLabelSelector, formatLabelSelector } from '../../apis/kubernetes/label-selector.ts';
import type { KubeObject, ObjectKey } from '../../apis/kubernetes/object.ts';
import type { LabelSelector } from '../../apis/kubernetes/pod.ts';
import type { Scale } from '../../apis/kubernetes/scale.ts';
import type { Draft, Kind } from './kinds/kind.ts';
import { isFields } from './patch/merge-patch.ts';
import { type FieldError, invalid as invalidField } from './schema/field-error.ts';
import { badRequest, invalid, modifiedMeanwhile, noSuchPath } from './status-errors.ts';
import { mustExist, viewOf, type World } from './world.ts';
import { updateObject, type WriteRequest } from './writing.ts';

const SCALE = { group: 'autoscaling', kind: 'Scale', plural: 'scales' };

/** The scale of an object. */
export function readScale(world: World, kind: Kind, key: ObjectKey): Scale {
  if (kind.scale === undefined) throw noSuchPath();
  return scaleOf(kind, viewOf(kind, mustExist(world, kind, key)));
}

/** Updates the replicas with the result of `change`, and returns the new scale. */
export function updateScale(
  world: World,
  kind: Kind,
  key: ObjectKey,
  change: (scale: Scale) => Scale,
  request: WriteRequest,
): Scale {
  const { scale: paths } = kind;
  if (paths === undefined) throw noSuchPath();
  const object = updateObject(
    world,
    kind,
    key,
    'object',
    (current) => {
      const wanted = change(scaleOf(kind, current));
      if (!isFields(wanted)) throw badRequest('a Scale is an object');
      const { resourceVersion } = wanted.metadata ?? {};
      if (
        resourceVersion !== undefined &&
        resourceVersion !== '' &&
        resourceVersion !== current.metadata.resourceVersion
      ) {
        throw modifiedMeanwhile(kind, key.name);
      }
      const replicas = wanted.spec?.replicas ?? 0;
      const errors = replicasErrors(replicas);
      if (errors.length > 0) throw invalid(SCALE, key.name, errors);
      return writeAt(current, fieldsOf(paths.specReplicasPath), replicas) as Draft;
    },
    request,
  );
  return scaleOf(kind, object);
}

function replicasErrors(replicas: unknown): FieldError[] {
  if (typeof replicas === 'number' && Number.isInteger(replicas) && replicas >= 0) return [];
  return [invalidField('spec.replicas', replicas as number, 'must be greater than or equal to 0')];
}

function scaleOf(kind: Kind, object: KubeObject): Scale {
  const { scale: paths } = kind;
  if (paths === undefined) throw noSuchPath();
  const { name = '', namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const replicas = readAt(object, fieldsOf(paths.specReplicasPath));
  const actual = readAt(object, fieldsOf(paths.statusReplicasPath));
  const selector = selectorText(
    paths.labelSelectorPath === undefined ? undefined : readAt(object, fieldsOf(paths.labelSelectorPath)),
  );
  return {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    },
    spec: typeof replicas === 'number' ? { replicas } : {},
    status: { replicas: typeof actual === 'number' ? actual : 0, ...(selector === '' ? {} : { selector }) },
  };
}

/** Built-in kinds have a selector object at this path, custom resources a string. */
function selectorText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (!isFields(value)) return '';
  if ('matchLabels' in value || 'matchExpressions' in value) {
    return formatLabelSelector(compileLabelSelector(value as LabelSelector));
  }
  return formatLabelSelector(compileLabelSelector({ matchLabels: value as Record<string, string> }));
}

/** Splits `.spec.replicas` into field names; scale paths have no other syntax. */
function fieldsOf(path: string): string[] {
  return path.split('.').filter((field) => field !== '');
}

function readAt(object: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, field) => (isFields(value) ? value[field] : undefined), object);
}

function writeAt(object: unknown, path: readonly string[], value: unknown): unknown {
  const [field, ...rest] = path;
  if (field === undefined) return value;
  const fields = isFields(object) ? object : {};
  return { ...fields, [field]: writeAt(fields[field], rest, value) };
}
