/** The pods that workloads will create, and their volume claims. */
import type { KubeObject, OwnerReference } from '../../apis/kubernetes/object.ts';
import type { Pod, Volume } from '../../apis/kubernetes/pod.ts';
import type { PersistentVolumeClaim } from '../../apis/kubernetes/volumes.ts';
import type {
  CronJob,
  Deployment,
  Job,
  PodTemplateSpec,
  ReplicaSet,
  StatefulSet,
} from '../../apis/kubernetes/workloads.ts';

/** A workload whose pods are planned. */
export type Workload = Deployment | ReplicaSet | StatefulSet | Job;

/** The Job of one run of a CronJob; undefined while it is suspended. */
export function oneRun({ metadata, spec }: CronJob): Job | undefined {
  if (spec.suspend === true) return undefined;
  return { apiVersion: 'batch/v1', kind: 'Job', metadata, spec: spec.jobTemplate.spec };
}

/** The number of pods that a workload runs at the same time. */
export function podCount(workload: Workload): number {
  if (workload.kind === 'Job') {
    const { parallelism = 1, completions = parallelism, suspend = false } = (workload as Job).spec;
    return suspend ? 0 : Math.min(parallelism, completions);
  }
  return (workload as Deployment).spec.replicas ?? 1;
}

/** The template pod of a workload, named after the workload. */
export function podOf(workload: Workload): Pod {
  const { name = '', namespace = '', uid = '' } = workload.metadata;
  const template: PodTemplateSpec = workload.spec.template;
  const owner: OwnerReference = {
    apiVersion: workload.apiVersion,
    kind: workload.kind,
    name,
    uid: uid === '' ? name : uid,
    controller: true,
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...template.metadata, name, namespace, ownerReferences: [owner] },
    spec: template.spec,
  };
}

/** The pods of a workload, copied from one with the defaults of the API server. */
export function podsLike(pod: Pod, workload: Workload): Pod[] {
  const first = firstNumber(workload);
  return Array.from({ length: podCount(workload) }, (_, index) => {
    const name = `${workload.metadata.name}-${first + index}`;
    return { ...pod, metadata: { ...pod.metadata, name }, spec: { ...pod.spec, ...claimVolumes(workload, pod, name) } };
  });
}

/** The claims that a StatefulSet makes for its pods; empty for every other workload. */
export function claimsOf(workload: Workload): PersistentVolumeClaim[] {
  const first = firstNumber(workload);
  return claimTemplates(workload).flatMap((template) =>
    Array.from({ length: podCount(workload) }, (_, index) => ({
      ...template,
      metadata: {
        ...template.metadata,
        name: `${template.metadata.name}-${workload.metadata.name}-${first + index}`,
        namespace: workload.metadata.namespace ?? '',
      },
    })),
  );
}

/** Pods of a StatefulSet are numbered from zero, as in Kubernetes; all others from one. */
function firstNumber(workload: Workload): number {
  return isStatefulSet(workload) ? (workload.spec.ordinals?.start ?? 0) : 1;
}

function claimVolumes(workload: Workload, pod: Pod, name: string): { volumes?: readonly Volume[] } {
  const templates = claimTemplates(workload);
  if (templates.length === 0) return {};
  const own = templates.map(({ metadata }) => ({
    name: metadata.name ?? '',
    persistentVolumeClaim: { claimName: `${metadata.name}-${name}` },
  }));
  return { volumes: [...(pod.spec.volumes ?? []), ...own] };
}

function claimTemplates(workload: Workload): readonly PersistentVolumeClaim[] {
  return isStatefulSet(workload) ? (workload.spec.volumeClaimTemplates ?? []) : [];
}

function isStatefulSet(workload: KubeObject): workload is StatefulSet {
  return workload.kind === 'StatefulSet';
}
