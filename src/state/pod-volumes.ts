/** Where the volumes of a pod can be attached, by their PersistentVolumeClaims, PersistentVolumes and StorageClasses. */
import type { Pod, Volume } from '../apis/kubernetes/pod.ts';
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from '../apis/kubernetes/volumes.ts';
import type { Alternatives } from '../engine/problem.ts';
import { requirement, termRequirements } from './engine-requirements.ts';
import { NO_VOLUMES, type PodVolumes } from './pod-group.ts';

/** Looks up storage objects; each is an informer's `get`. */
export interface StorageLookup {
  claim(namespace: string, name: string): PersistentVolumeClaim | undefined;
  volume(name: string): PersistentVolume | undefined;
  storageClass(name: string): StorageClass | undefined;
}

/** Why a pod cannot be placed because of its volumes. */
export interface VolumeTrouble {
  readonly problem: string;
}

/** The volumes of a pod, or the problem with them. */
export function podVolumes(pod: Pod, storage: StorageLookup): PodVolumes | VolumeTrouble {
  const namespace = pod.metadata.namespace ?? '';
  let requirements: Alternatives = [];
  const attachments: Record<string, number> = {};
  for (const volume of pod.spec.volumes ?? []) {
    const name = claimName(pod, volume);
    if (name === undefined) continue;
    const claim = storage.claim(namespace, name);
    if (claim === undefined) return { problem: `the PersistentVolumeClaim ${namespace}/${name} does not exist` };
    const found = claim.spec.volumeName ? bound(claim, storage) : unbound(claim, storage);
    if ('problem' in found) return found;
    requirements = both(requirements, found.where);
    if (found.driver !== undefined) attachments[found.driver] = (attachments[found.driver] ?? 0) + 1;
  }
  if (requirements.length === 0 && Object.keys(attachments).length === 0) return NO_VOLUMES;
  return { requirements, attachments };
}

/** Whether the volume has a claim, and so may be tied to a zone or node. Other volumes are created wherever the pod runs. */
export function hasClaim({ persistentVolumeClaim, ephemeral }: Volume): boolean {
  return persistentVolumeClaim !== undefined || ephemeral !== undefined;
}

/** The name of the claim of a pod's volume; undefined without one. */
export function claimName(pod: Pod, volume: Volume): string | undefined {
  if (volume.persistentVolumeClaim !== undefined) return volume.persistentVolumeClaim.claimName;
  // The claim of an ephemeral volume is named after its pod.
  return volume.ephemeral === undefined ? undefined : `${pod.metadata.name}-${volume.name}`;
}

interface Found {
  readonly where: Alternatives;
  readonly driver?: string;
}

function bound(claim: PersistentVolumeClaim, storage: StorageLookup): Found | VolumeTrouble {
  const name = claim.spec.volumeName ?? '';
  const volume = storage.volume(name);
  if (volume === undefined) return { problem: `the PersistentVolume ${name} does not exist` };
  const terms = volume.spec.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  const driver = volume.spec.csi?.driver;
  return { where: terms.map(termRequirements), ...(driver === undefined ? {} : { driver }) };
}

function unbound(claim: PersistentVolumeClaim, storage: StorageLookup): Found | VolumeTrouble {
  const { namespace, name } = claim.metadata;
  const className = claim.spec.storageClassName ?? '';
  if (className === '')
    return { problem: `the PersistentVolumeClaim ${namespace}/${name} has no volume and no storage class` };
  const storageClass = storage.storageClass(className);
  if (storageClass === undefined) return { problem: `the StorageClass ${className} does not exist` };
  if (storageClass.volumeBindingMode !== 'WaitForFirstConsumer') {
    return { problem: `the PersistentVolumeClaim ${namespace}/${name} is not bound to a volume yet` };
  }
  const where = (storageClass.allowedTopologies ?? []).map((term) =>
    (term.matchLabelExpressions ?? []).map(({ key, values }) => requirement({ key, operator: 'In', values })),
  );
  return { where, driver: storageClass.provisioner };
}

/** Alternatives that satisfy both: all pairs. */
function both(a: Alternatives, b: Alternatives): Alternatives {
  if (a.length === 0) return b;
  if (b.length === 0) return a;
  return a.flatMap((first) => b.map((second) => [...first, ...second]));
}
