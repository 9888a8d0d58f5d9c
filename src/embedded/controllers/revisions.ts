/** The templates of a StatefulSet or DaemonSet, kept as ControllerRevisions for rollbacks. */
import { type KubeObject, keyOf } from '../../apis/kubernetes/object.ts';
import {
  CONTROLLER_REVISIONS,
  type ControllerRevision,
  type PodTemplateSpec,
} from '../../apis/kubernetes/workloads.ts';
import type { KubeClient } from '../../kube/client.ts';
import { hasCode } from '../../platform/errors.ts';
import { canonicalJson } from './canonical-json.ts';
import { controllerReference } from './owned-pod.ts';
import { templateHash } from './template-hash.ts';

export const REVISION_LABEL = 'controller-revision-hash';
const DEFAULT_HISTORY = 10;

export interface RevisionPlan {
  /** The revision of the current template, existing or to be created. */
  readonly update: ControllerRevision;
  readonly create: boolean;
  /** An old template is current again, so its revision becomes the newest. */
  readonly renumber: boolean;
  readonly delete: readonly ControllerRevision[];
}

/**
 * Finds or builds the revision of a template, and lists revisions that are too old to keep. Pure. `inUse` are the names
 * of revisions that pods use; `hashLabel` is the label that holds the hash on a revision.
 */
export function decideRevisions(
  owner: KubeObject & { readonly spec: { readonly template: PodTemplateSpec; readonly revisionHistoryLimit?: number } },
  existing: readonly ControllerRevision[],
  inUse: ReadonlySet<string>,
  hashLabel: string,
): RevisionPlan {
  const { template, revisionHistoryLimit = DEFAULT_HISTORY } = owner.spec;
  const data = { spec: { template: { ...template, $patch: 'replace' } } };
  const newest = Math.max(0, ...existing.map(({ revision }) => revision));
  const text = canonicalJson(data);
  const known = existing.find((revision) => canonicalJson(revision.data) === text);
  const update = known ?? newRevision(owner, data, newest + 1, hashLabel);
  const renumber = known !== undefined && known.revision < newest;
  const idle = existing
    .filter((revision) => revision !== known && !inUse.has(revision.metadata.name ?? ''))
    .sort((a, b) => a.revision - b.revision);
  return {
    update: renumber ? { ...update, revision: newest + 1 } : update,
    create: known === undefined,
    renumber,
    delete: idle.slice(0, Math.max(0, idle.length - revisionHistoryLimit)),
  };
}

/** Carries out a plan. */
export async function writeRevisions(client: KubeClient, plan: RevisionPlan): Promise<void> {
  try {
    if (plan.create) await client.create(CONTROLLER_REVISIONS, plan.update);
  } catch (error) {
    // The cache was stale: the revision was created before.
    if (!hasCode(error, 'KUBE_ALREADY_EXISTS')) throw error;
  }
  if (plan.renumber) {
    const body = { revision: plan.update.revision };
    await client.patch(CONTROLLER_REVISIONS, keyOf(plan.update), { type: 'merge', body });
  }
  for (const revision of plan.delete) {
    try {
      await client.delete(CONTROLLER_REVISIONS, keyOf(revision));
    } catch (error) {
      if (!hasCode(error, 'KUBE_NOT_FOUND')) throw error;
    }
  }
}

function newRevision(
  owner: KubeObject & { readonly spec: { readonly template: PodTemplateSpec } },
  data: unknown,
  revision: number,
  hashLabel: string,
): ControllerRevision {
  const { name, namespace } = owner.metadata;
  const hash = templateHash(owner.spec.template);
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: `${name}-${hash}`,
      ...(namespace !== undefined && { namespace }),
      labels: { ...owner.spec.template.metadata?.labels, [hashLabel]: hash },
      ownerReferences: [controllerReference(owner)],
    },
    data,
    revision,
  };
}
