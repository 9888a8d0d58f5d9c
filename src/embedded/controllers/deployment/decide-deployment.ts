/** Decides the next step of a Deployment from its current state alone. Pure. */
import type { Deployment, ReplicaSet } from '../../../apis/kubernetes/workloads.ts';
import { controllerReference } from '../owned-pod.ts';
import { templateHash } from '../template-hash.ts';
import {
  DESIRED_REPLICAS,
  desiredReplicas,
  findNew,
  HASH_LABEL,
  isRecreate,
  MAX_REPLICAS,
  REVISION,
  revisionOf,
  rollingBounds,
} from './deployment-facts.ts';
import { deadlineAt, deploymentStatus } from './deployment-status.ts';
import { newReplicas, proportionalScaling, rollingStep, type Scaling, wasScaled } from './rolling-update.ts';

export interface DeploymentPlan {
  readonly create?: ReplicaSet;
  readonly scale: readonly Scaling[];
  /** Annotations to write on the ReplicaSet of the current template. */
  readonly annotate?: {
    readonly replicaSet: ReplicaSet;
    readonly annotations: Readonly<Record<string, string>>;
    readonly minReadySeconds: number;
  };
  readonly delete: readonly ReplicaSet[];
  /** The revision to record on the Deployment. */
  readonly revision?: string;
  readonly status: Readonly<Record<string, unknown>>;
  readonly againAfterMs?: number;
}

const DEFAULT_HISTORY = 10;
/** Annotations about the Deployment itself, which are not copied to its ReplicaSets. */
const OWN_ANNOTATIONS = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  REVISION,
  DESIRED_REPLICAS,
  MAX_REPLICAS,
]);

/** `oldPodsRun`: pods of old ReplicaSets have not ended yet, and the Recreate strategy waits for them. */
export function decideDeployment(
  deployment: Deployment,
  replicaSets: readonly ReplicaSet[],
  oldPodsRun: boolean,
  now: number,
): DeploymentPlan {
  const fresh = findNew(deployment, replicaSets);
  const old = replicaSets.filter((replicaSet) => replicaSet !== fresh);
  const status = (step: { created?: string; rollout: boolean }): Record<string, unknown> =>
    deploymentStatus(deployment, fresh, old, now, step);
  const nothing: DeploymentPlan = { scale: [], delete: [], status: status({ rollout: false }) };
  if (deployment.metadata.deletionTimestamp !== undefined) return nothing;
  const base = { ...nothing, ...revisionWrites(deployment, fresh, old) };
  if (deployment.spec.paused) {
    return { ...base, scale: proportionalScaling(deployment, fresh, old), delete: history(deployment, old) };
  }
  if (wasScaled(deployment, replicaSets)) return { ...base, scale: proportionalScaling(deployment, fresh, old) };
  const rollout: DeploymentPlan = { ...base, status: status({ rollout: true }), ...deadline(deployment, now) };
  if (isRecreate(deployment)) {
    const down = old.filter(({ spec }) => (spec.replicas ?? 0) > 0).map((replicaSet) => ({ replicaSet, replicas: 0 }));
    if (down.length > 0 || oldPodsRun) return { ...rollout, scale: down };
  }
  if (fresh === undefined) {
    const create = newReplicaSet(deployment, old);
    const created = status({ created: create.metadata.name ?? '', rollout: true });
    return { ...base, create, revision: create.metadata.annotations?.[REVISION] ?? '1', status: created };
  }
  const scale = isRecreate(deployment) ? fullSize(deployment, fresh) : rollingStep(deployment, fresh, old);
  const finished =
    scale.length === 0 && old.every(({ spec }) => (spec.replicas ?? 0) === 0) && isFull(deployment, fresh);
  return { ...rollout, scale, delete: finished ? history(deployment, old) : [] };
}

/** The annotations that record the Deployment's size on a ReplicaSet. */
export function sizeAnnotations(deployment: Deployment): Record<string, string> {
  const desired = desiredReplicas(deployment);
  return {
    [DESIRED_REPLICAS]: String(desired),
    [MAX_REPLICAS]: String(desired + rollingBounds(deployment).maxSurge),
  };
}

function newReplicaSet(deployment: Deployment, old: readonly ReplicaSet[]): ReplicaSet {
  const { template, selector, minReadySeconds = 0 } = deployment.spec;
  const { namespace, name } = deployment.metadata;
  const hash = templateHash(template, deployment.status?.collisionCount ?? 0);
  const labels = { ...template.metadata?.labels, [HASH_LABEL]: hash };
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: `${name}-${hash}`,
      ...(namespace !== undefined && { namespace }),
      labels,
      annotations: { ...inherited(deployment), ...sizeAnnotations(deployment), [REVISION]: String(nextRevision(old)) },
      ownerReferences: [controllerReference(deployment)],
    },
    spec: {
      replicas: newReplicas(deployment, old, 0),
      ...(minReadySeconds > 0 && { minReadySeconds }),
      selector: { ...selector, matchLabels: { ...selector.matchLabels, [HASH_LABEL]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  };
}

/** Rolling back to an old template makes it the newest revision. */
function revisionWrites(
  deployment: Deployment,
  fresh: ReplicaSet | undefined,
  old: readonly ReplicaSet[],
): Pick<DeploymentPlan, 'annotate' | 'revision'> {
  if (fresh === undefined) return {};
  const revision = Math.max(revisionOf(fresh), nextRevision(old));
  const annotations = { ...inherited(deployment), [REVISION]: String(revision), ...sizeAnnotations(deployment) };
  const { minReadySeconds = 0 } = deployment.spec;
  const known = fresh.metadata.annotations ?? {};
  const same =
    Object.entries(annotations).every(([key, value]) => known[key] === value) &&
    (fresh.spec.minReadySeconds ?? 0) === minReadySeconds;
  return {
    ...(same || wasScaled(deployment, [fresh])
      ? {}
      : { annotate: { replicaSet: fresh, annotations, minReadySeconds } }),
    ...(revisionOf(deployment) === revision ? {} : { revision: String(revision) }),
  };
}

function nextRevision(old: readonly ReplicaSet[]): number {
  return Math.max(0, ...old.map(revisionOf)) + 1;
}

function inherited(deployment: Deployment): Record<string, string> {
  return Object.fromEntries(
    Object.entries(deployment.metadata.annotations ?? {}).filter(([key]) => !OWN_ANNOTATIONS.has(key)),
  );
}

function fullSize(deployment: Deployment, fresh: ReplicaSet): Scaling[] {
  const replicas = desiredReplicas(deployment);
  return fresh.spec.replicas === replicas ? [] : [{ replicaSet: fresh, replicas }];
}

function isFull(deployment: Deployment, fresh: ReplicaSet): boolean {
  return (fresh.status?.availableReplicas ?? 0) === desiredReplicas(deployment);
}

/** Old ReplicaSets beyond revisionHistoryLimit: the oldest, if they are empty. */
function history(deployment: Deployment, old: readonly ReplicaSet[]): ReplicaSet[] {
  const kept = deployment.spec.revisionHistoryLimit ?? DEFAULT_HISTORY;
  const alive = old.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return [...alive]
    .sort((a, b) => revisionOf(a) - revisionOf(b))
    .slice(0, Math.max(0, alive.length - kept))
    .filter(
      ({ spec, status, metadata }) =>
        (spec.replicas ?? 0) === 0 &&
        (status?.replicas ?? 0) === 0 &&
        (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0),
    );
}

function deadline(deployment: Deployment, now: number): Pick<DeploymentPlan, 'againAfterMs'> {
  const at = deadlineAt(deployment);
  // One second later, because times in conditions are truncated to the second.
  return at === undefined ? {} : { againAfterMs: Math.max(0, at - now) + 1000 };
}
