/** Adoption: an owner adopts objects without a controller that it selects, and releases objects that it no longer selects. */
import type { LabelMatcher } from '../../apis/kubernetes/label-selector.ts';
import type { KubeObject, OwnerReference, Resource } from '../../apis/kubernetes/object.ts';
import type { KubeClient } from '../../kube/client.ts';
import { patchNewest } from '../patch-newest.ts';
import { controllerReference, controllerUid } from './owned-pod.ts';

export interface AdoptionPlan<T> {
  readonly adopt: readonly T[];
  readonly release: readonly T[];
}

/** Which orphans the owner adopts, and which of its objects it releases. Pure. */
export function decideAdoption<T extends KubeObject>(
  owner: KubeObject,
  selector: LabelMatcher,
  owned: readonly T[],
  orphans: readonly T[],
): AdoptionPlan<T> {
  const leaving = owner.metadata.deletionTimestamp !== undefined;
  const stays = ({ metadata }: T): boolean => metadata.deletionTimestamp === undefined;
  return {
    adopt: leaving ? [] : orphans.filter((object) => stays(object) && selector.matches(object.metadata.labels)),
    release: owned.filter((object) => stays(object) && !selector.matches(object.metadata.labels)),
  };
}

/** Writes the owner references. */
export async function carryOutAdoption<T extends KubeObject>(
  client: KubeClient,
  kind: Resource<T>,
  owner: KubeObject,
  { adopt, release }: AdoptionPlan<T>,
): Promise<void> {
  const write = (object: T, change: (references: readonly OwnerReference[]) => readonly OwnerReference[] | undefined) =>
    patchNewest(client, kind, object, ({ metadata }) => {
      const ownerReferences = change(metadata.ownerReferences ?? []);
      return ownerReferences === undefined ? undefined : { metadata: { ownerReferences } };
    });
  for (const object of adopt) {
    await write(object, (references) =>
      references.some(({ controller }) => controller) ? undefined : [...references, controllerReference(owner)],
    );
  }
  for (const object of release) {
    await write(object, (references) => references.filter(({ uid }) => uid !== owner.metadata.uid));
  }
}

/** Whether the object has no controller. */
export function isOrphan(object: KubeObject): boolean {
  return controllerUid(object) === undefined;
}
