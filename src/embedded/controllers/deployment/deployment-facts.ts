/** Facts about a Deployment and its ReplicaSets. */
import type { Deployment, PodTemplateSpec, ReplicaSet } from '../../../apis/kubernetes/workloads.ts';
import { canonicalJson } from '../canonical-json.ts';
import { scaledValue } from '../int-or-percent.ts';

export const REVISION = 'deployment.kubernetes.io/revision';
export const DESIRED_REPLICAS = 'deployment.kubernetes.io/desired-replicas';
export const MAX_REPLICAS = 'deployment.kubernetes.io/max-replicas';
export const HASH_LABEL = 'pod-template-hash';

export function desiredReplicas(deployment: Deployment): number {
  return deployment.spec.replicas ?? 1;
}

export function isRecreate(deployment: Deployment): boolean {
  return deployment.spec.strategy?.type === 'Recreate';
}

/** maxSurge and maxUnavailable as numbers of pods; both are 0 for Recreate. */
export function rollingBounds(deployment: Deployment): { readonly maxSurge: number; readonly maxUnavailable: number } {
  if (isRecreate(deployment)) return { maxSurge: 0, maxUnavailable: 0 };
  const replicas = desiredReplicas(deployment);
  const { maxSurge = '25%', maxUnavailable = '25%' } = deployment.spec.strategy?.rollingUpdate ?? {};
  const surge = scaledValue(maxSurge, replicas, 'up');
  const down = scaledValue(maxUnavailable, replicas, 'down');
  const unavailable = surge === 0 && down === 0 ? 1 : down;
  return { maxSurge: surge, maxUnavailable: replicas === 0 ? 0 : Math.min(unavailable, replicas) };
}

/** The ReplicaSet with the Deployment's current template; the oldest if there are several. */
export function findNew(deployment: Deployment, replicaSets: readonly ReplicaSet[]): ReplicaSet | undefined {
  const wanted = templateText(deployment.spec.template);
  return oldestFirst(replicaSets).find((replicaSet) => templateText(replicaSet.spec.template) === wanted);
}

export function oldestFirst(replicaSets: readonly ReplicaSet[]): ReplicaSet[] {
  const age = ({ metadata }: ReplicaSet): string => `${metadata.creationTimestamp ?? ''} ${metadata.name}`;
  return [...replicaSets].sort((a, b) => (age(a) < age(b) ? -1 : 1));
}

export function revisionOf(object: Deployment | ReplicaSet): number {
  return Number(object.metadata.annotations?.[REVISION] ?? 0) || 0;
}

/** The sum of the ReplicaSets' desired replicas. */
export function specReplicas(replicaSets: readonly ReplicaSet[]): number {
  return replicaSets.reduce((sum, { spec }) => sum + (spec.replicas ?? 0), 0);
}

/** The sum of a status count over the ReplicaSets. */
export function statusCount(
  replicaSets: readonly ReplicaSet[],
  field: 'replicas' | 'readyReplicas' | 'availableReplicas' | 'terminatingReplicas',
): number {
  return replicaSets.reduce((sum, { status }) => sum + (status?.[field] ?? 0), 0);
}

function templateText(template: PodTemplateSpec): string {
  const { [HASH_LABEL]: _, ...labels } = template.metadata?.labels ?? {};
  return canonicalJson({ ...template, metadata: { ...template.metadata, labels, creationTimestamp: undefined } });
}
