/** Decides which volume a claim gets: a free one, or a new one. Pure. */
import type { Node } from '../../../apis/kubernetes/node.ts';
import { compileNodeSelectorTerms } from '../../../apis/kubernetes/node-selector.ts';
import { compareQuantities, parseQuantity } from '../../../apis/kubernetes/quantity.ts';
import {
  type PersistentVolume,
  type PersistentVolumeClaim,
  SELECTED_NODE,
  type StorageClass,
} from '../../../apis/kubernetes/volumes.ts';

export type ClaimPlan =
  /** Nothing can be done now. */
  | { readonly kind: 'wait' }
  | { readonly kind: 'bind'; readonly volume: PersistentVolume }
  | { readonly kind: 'make'; readonly volume: PersistentVolume };

const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class';
const NO_PROVISIONER = 'kubernetes.io/no-provisioner';
const ZONE = 'topology.kubernetes.io/zone';

export function decideClaim(
  claim: PersistentVolumeClaim,
  volumes: readonly PersistentVolume[],
  classes: readonly StorageClass[],
  selectedNode: Node | undefined,
): ClaimPlan {
  if (claim.spec.volumeName) {
    const named = volumes.find(({ metadata }) => metadata.name === claim.spec.volumeName);
    return named === undefined || isTakenByOther(named, claim) ? { kind: 'wait' } : { kind: 'bind', volume: named };
  }
  const storageClass = classOf(claim, classes);
  const waits =
    storageClass?.volumeBindingMode === 'WaitForFirstConsumer' &&
    claim.metadata.annotations?.[SELECTED_NODE] === undefined;
  if (waits) return { kind: 'wait' };
  const own = volumes.find(({ spec }) => spec.claimRef?.uid !== undefined && spec.claimRef.uid === claim.metadata.uid);
  const found = own ?? smallestFitting(claim, volumes, storageClass?.metadata.name ?? '', selectedNode);
  if (found !== undefined) return { kind: 'bind', volume: found };
  if (storageClass === undefined || storageClass.provisioner === NO_PROVISIONER) return { kind: 'wait' };
  return { kind: 'make', volume: newVolume(claim, storageClass, selectedNode) };
}

function classOf(claim: PersistentVolumeClaim, classes: readonly StorageClass[]): StorageClass | undefined {
  const { storageClassName } = claim.spec;
  if (storageClassName === undefined)
    return classes.find(({ metadata }) => metadata.annotations?.[DEFAULT_CLASS] === 'true');
  return classes.find(({ metadata }) => metadata.name === storageClassName);
}

function smallestFitting(
  claim: PersistentVolumeClaim,
  volumes: readonly PersistentVolume[],
  className: string,
  node: Node | undefined,
): PersistentVolume | undefined {
  const wanted = parseQuantity(claim.spec.resources?.requests?.storage ?? '0');
  const size = ({ spec }: PersistentVolume) => parseQuantity(spec.capacity?.storage ?? '0');
  return volumes
    .filter((volume) => {
      const { spec } = volume;
      const reachable = node === undefined || spec.nodeAffinity?.required === undefined || reaches(volume, node);
      const modes = (claim.spec.accessModes ?? []).every((mode) => spec.accessModes?.includes(mode));
      const free = spec.claimRef === undefined || (spec.claimRef.uid === undefined && !isTakenByOther(volume, claim));
      return (
        free &&
        (spec.storageClassName ?? '') === className &&
        modes &&
        reachable &&
        compareQuantities(size(volume), wanted) >= 0
      );
    })
    .sort((a, b) => compareQuantities(size(a), size(b)))[0];
}

function reaches({ spec }: PersistentVolume, node: Node): boolean {
  const matcher = compileNodeSelectorTerms(spec.nodeAffinity?.required?.nodeSelectorTerms);
  return matcher.matches(node.metadata.name ?? '', node.metadata.labels);
}

function isTakenByOther({ spec }: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const { claimRef } = spec;
  if (claimRef === undefined) return false;
  if (claimRef.uid !== undefined) return claimRef.uid !== claim.metadata.uid;
  return claimRef.name !== claim.metadata.name || claimRef.namespace !== claim.metadata.namespace;
}

/** A new volume is in the zone of the node selected for its first pod, or in the first zone that its class allows. */
function newVolume(claim: PersistentVolumeClaim, storageClass: StorageClass, node: Node | undefined): PersistentVolume {
  const allowed = storageClass.allowedTopologies
    ?.flatMap(({ matchLabelExpressions }) => matchLabelExpressions ?? [])
    .find(({ key }) => key === ZONE);
  const zone = node?.metadata.labels?.[ZONE] ?? allowed?.values[0];
  const name = `pvc-${claim.metadata.uid}`;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name, annotations: { 'pv.kubernetes.io/provisioned-by': storageClass.provisioner } },
    spec: {
      capacity: { storage: claim.spec.resources?.requests?.storage ?? '0' },
      accessModes: claim.spec.accessModes ?? ['ReadWriteOnce'],
      storageClassName: storageClass.metadata.name ?? '',
      persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? 'Delete',
      claimRef: claimReference(claim),
      csi: { driver: storageClass.provisioner, volumeHandle: name },
      ...(zone !== undefined && {
        nodeAffinity: {
          required: { nodeSelectorTerms: [{ matchExpressions: [{ key: ZONE, operator: 'In', values: [zone] }] }] },
        },
      }),
    },
  };
}

/** The reference of a volume to its claim. */
export function claimReference(claim: PersistentVolumeClaim): NonNullable<PersistentVolume['spec']['claimRef']> {
  const { name, namespace, uid } = claim.metadata;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    ...(namespace !== undefined && { namespace }),
    ...(name !== undefined && { name }),
    ...(uid !== undefined && { uid }),
  } as NonNullable<PersistentVolume['spec']['claimRef']>;
}
