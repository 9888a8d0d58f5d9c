/** The storage of a plan: assumes that claims get a volume, in any zone that their class allows. */
import { keyOf, keyText } from '../../apis/kubernetes/object.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import {
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  type PersistentVolumeClaim,
  STORAGE_CLASSES,
  type StorageClass,
} from '../../apis/kubernetes/volumes.ts';
import type { StorageLookup } from '../../state/pod-volumes.ts';
import type { ImaginedCluster } from './imagined-cluster.ts';
import { claimsOf, type Workload } from './workload-pods.ts';

/** The class of a claim that names none. */
const UNNAMED = 'default';

/** The storage lookup for the pods of a plan. */
export async function plannedStorage(
  cluster: ImaginedCluster,
  workloads: readonly Workload[],
  pods: readonly Pod[],
): Promise<StorageLookup> {
  const written = await cluster.list(PERSISTENT_VOLUME_CLAIMS);
  // A given claim says more than the template it was made from.
  const claims = byKey([...workloads.flatMap(claimsOf), ...pods.flatMap(ephemeralClaims), ...written]);
  const volumes = byKey(await cluster.list(PERSISTENT_VOLUMES));
  const classes = byKey(await cluster.list(STORAGE_CLASSES));
  return {
    claim: (namespace, name) => {
      const claim = claims.get(`${namespace}/${name}`);
      if (claim === undefined) return undefined;
      const { volumeName, ...spec } = claim.spec;
      // Volumes of another cluster do not exist in this plan.
      const bound = volumeName !== undefined && volumes.has(volumeName) ? { volumeName } : {};
      return { ...claim, spec: { ...spec, ...bound, storageClassName: spec.storageClassName || UNNAMED } };
    },
    volume: (name) => volumes.get(name),
    storageClass: (name) => {
      const known = classes.get(name) ?? unknownClass(name);
      // Nothing provisions volumes here, so that no claim waits for one.
      return { ...known, volumeBindingMode: 'WaitForFirstConsumer' };
    },
  };
}

function ephemeralClaims(pod: Pod): PersistentVolumeClaim[] {
  return (pod.spec.volumes ?? []).flatMap(({ name, ephemeral }) => {
    if (ephemeral === undefined) return [];
    const { spec = {} } = (ephemeral.volumeClaimTemplate ?? {}) as { spec?: PersistentVolumeClaim['spec'] };
    const { namespace = '' } = pod.metadata;
    const metadata = { name: `${pod.metadata.name}-${name}`, namespace };
    return [{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata, spec }];
  });
}

function unknownClass(name: string): StorageClass {
  return { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name }, provisioner: name };
}

function byKey<T extends PersistentVolumeClaim | { apiVersion: string; kind: string; metadata: { name?: string } }>(
  objects: readonly T[],
): Map<string, T> {
  return new Map(objects.map((object) => [keyText(keyOf(object)), object]));
}
