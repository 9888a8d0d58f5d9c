/** StatefulSets of a simulated cluster. Most have volumes, each tied to the zone where its first pod ran. */
import { LABEL_CAPACITY_TYPE, LABEL_HOSTNAME, LABEL_ZONE } from '../../../src/apis/karpenter/labels.ts';
import type { PodDisruptionBudget } from '../../../src/apis/kubernetes/pod-disruption-budget.ts';
import type { PersistentVolumeClaim, StorageClass } from '../../../src/apis/kubernetes/volumes.ts';
import type { StatefulSet } from '../../../src/apis/kubernetes/workloads.ts';
import { aStatefulSet, aTemplate } from '../../../src/embedded/testkit/workloads.ts';
import type { Random } from '../../../src/platform/random.ts';
import { ZONES } from './account.ts';
import { chance, maybe, some } from './chance.ts';
import { container, drawBudget, drawScript } from './workloads.ts';

export interface StatefulWorkload {
  readonly set: StatefulSet;
  readonly budget?: PodDisruptionBudget;
}

/** Volumes are created where the first pod runs, in any zone or in some of them. */
export function drawStorageClasses(random: Random): readonly StorageClass[] {
  const zonal = (name: string, zones?: readonly string[]): StorageClass => ({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name },
    provisioner: 'disk.example.com',
    volumeBindingMode: 'WaitForFirstConsumer',
    reclaimPolicy: 'Delete',
    ...(zones && { allowedTopologies: [{ matchLabelExpressions: [{ key: LABEL_ZONE, values: zones }] }] }),
  });
  return [zonal('anywhere'), zonal('somewhere', some(random, ZONES))];
}

export function drawStatefulSet(random: Random, name: string): StatefulWorkload {
  const apart = { topologyKey: LABEL_HOSTNAME, labelSelector: { matchLabels: { app: name } } };
  // No spread over zones: once its volumes exist, nothing can be moved to keep it even.
  const spec = {
    containers: [container(random)],
    terminationGracePeriodSeconds: random.pick([5, 30, 60]),
    ...maybe(random, 0.2, () => ({ nodeSelector: { [LABEL_CAPACITY_TYPE]: 'on-demand' } })),
    ...maybe(random, 0.4, () => ({
      affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [apart] } },
    })),
  };
  const set = aStatefulSet(name, {
    replicas: 1 + random.below(4),
    podManagementPolicy: random.pick(['OrderedReady', 'Parallel']),
    template: aTemplate(name, 'app:1', spec, drawScript(random)),
    ...maybe(random, 0.8, () => ({ volumeClaimTemplates: [aVolume(random)] })),
  });
  return chance(random, 0.6) ? { set, budget: drawBudget(random, name) } : { set };
}

function aVolume(random: Random): PersistentVolumeClaim {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data' },
    spec: {
      storageClassName: random.pick(['anywhere', 'anywhere', 'somewhere']),
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '10Gi' } },
    },
  };
}
