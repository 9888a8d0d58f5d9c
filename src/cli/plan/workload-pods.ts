/** The pods that workloads will have, and the volume claims of these pods. */
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

/** A kind of object that makes pods for new nodes. */
export type Workload = Deployment | ReplicaSet | StatefulSet | Job;

/** One run of a CronJob; undefined for one that is suspended. */
export function oneRun({ metadata, spec }: CronJob): Job | undefined {
  if (spec.suspend === true) return undefined;
  return { apiVersion: 'batch/v1', kind: 'Job', metadata, spec: spec.jobTemplate.spec };
}

/** How many pods a workload runs at a time. */
export function podCount(workload: Workload): number {
  if (workload.kind === 'Job') {
    const { parallelism = 1, completions = parallelism, suspend = false } = (workload as Job).spec;
    return suspend ? 0 : Math.min(parallelism, completions);
  }
  return (workload as Deployment).spec.replicas ?? 1;
}

/** The pod that all pods of a workload are like; it has the workload's name. */
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

/** The pods of a workload, made from one that the API server has filled in. */
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

/** Pods of a StatefulSet count from zero, as they really do; all others from one, as people do. */
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
