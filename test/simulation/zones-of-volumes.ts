/** The zones in which the volumes of a pod are or can be created; undefined for any. Plain code, independent of the engine. */
import { LABEL_ZONE } from '../../src/apis/karpenter/labels.ts';
import type { Pod } from '../../src/apis/kubernetes/pod.ts';
import {
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  type PersistentVolumeClaim,
  STORAGE_CLASSES,
} from '../../src/apis/kubernetes/volumes.ts';
import type { Facts } from './facts.ts';

/** The existing claims of a pod's volumes. */
export function claimsOfVolumes(facts: Facts, { metadata, spec }: Pod): readonly PersistentVolumeClaim[] {
  const names = (spec.volumes ?? []).map(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName);
  if (names.every((name) => name === undefined)) return [];
  return facts
    .list(PERSISTENT_VOLUME_CLAIMS)
    .filter((claim) => claim.metadata.namespace === metadata.namespace && names.includes(claim.metadata.name));
}

/** The zones of a claim's volume; undefined if it has none yet, or can be attached anywhere. */
export function zonesOfVolume(facts: Facts, { spec }: PersistentVolumeClaim): readonly string[] | undefined {
  const volume = facts.list(PERSISTENT_VOLUMES).find(({ metadata }) => metadata.name === spec.volumeName);
  const terms = volume?.spec.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  const zones = terms.flatMap(({ matchExpressions = [] }) => matchExpressions).find(({ key }) => key === LABEL_ZONE);
  return zones?.values;
}

export function zonesOfVolumes(facts: Facts, pod: Pod): readonly string[] | undefined {
  const sets = claimsOfVolumes(facts, pod).flatMap((claim) => {
    const made = claim.spec.volumeName ? zonesOfVolume(facts, claim) : zonesAllowed(facts, claim);
    return made === undefined ? [] : [made];
  });
  const [first, ...others] = sets;
  return first?.filter((zone) => others.every((zones) => zones.includes(zone)));
}

function zonesAllowed(facts: Facts, { spec }: PersistentVolumeClaim): readonly string[] | undefined {
  const storage = facts.list(STORAGE_CLASSES).find(({ metadata }) => metadata.name === spec.storageClassName);
  const expressions = storage?.allowedTopologies?.flatMap(({ matchLabelExpressions = [] }) => matchLabelExpressions);
  return expressions?.find(({ key }) => key === LABEL_ZONE)?.values;
}
