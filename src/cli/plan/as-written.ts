/**
 * Strips manifests of what a cluster added. `kubectl get -o yaml` prints fields that another API server refuses, and objects
 * that controllers made from others of the same list, which would be planned twice.
 */
import type { KubeObject, ObjectMeta } from '../../apis/kubernetes/object.ts';
import type { Manifest } from './read-manifests.ts';

/** Manifests for a new cluster, and how many objects were dropped because controllers create them. */
export interface WrittenManifests {
  readonly manifests: readonly Manifest[];
  readonly madeByOthers: number;
  /** PriorityClasses that objects name and that are not among the manifests. */
  readonly priorityClasses: readonly string[];
}

/** Removes server-set fields, objects whose owner is given too, and finished objects. */
export function asWritten(manifests: readonly Manifest[]): WrittenManifests {
  const given = new Set(
    manifests.map(({ object }) => keyOf(object.kind, object.metadata.namespace, object.metadata.name)),
  );
  const own: Manifest[] = [];
  const named = new Set<string>();
  let madeByOthers = 0;
  for (const { source, object } of manifests) {
    if (!isFromServer(object)) own.push({ source, object });
    else if (isMadeByOthers(object, given)) madeByOthers++;
    else if (!hasEnded(object)) {
      own.push({ source, object: withoutServerFields(object) });
      const name = priorityClassOf(object) ?? '';
      if (name !== '' && !BUILT_IN.test(name) && !given.has(keyOf('PriorityClass', undefined, name))) named.add(name);
    }
  }
  return { manifests: own, madeByOthers, priorityClasses: [...named].sort() };
}

/** PriorityClasses of every cluster. */
const BUILT_IN = /^system-(node|cluster)-critical$/;

/** The PriorityClass of a pod, or of the pods of a workload. */
function priorityClassOf({ kind, ...object }: KubeObject): string | undefined {
  const { spec } = object as unknown as { spec?: Workload & PodFields & { jobTemplate?: { spec?: Workload } } };
  const pod = kind === 'Pod' ? spec : (spec?.jobTemplate?.spec ?? spec)?.template?.spec;
  return pod?.priorityClassName;
}

interface PodFields {
  readonly priorityClassName?: string;
}

interface Workload {
  readonly template?: { readonly spec?: PodFields };
}

function isFromServer({ metadata: { uid, resourceVersion } }: KubeObject): boolean {
  return uid !== undefined || resourceVersion !== undefined;
}

/** DaemonSet pods and static pods come with each new node, so that they are not planned themselves. */
const PER_NODE = ['DaemonSet', 'Node'];

function isMadeByOthers({ metadata }: KubeObject, given: ReadonlySet<string>): boolean {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (owner === undefined) return false;
  return PER_NODE.includes(owner.kind) || given.has(keyOf(owner.kind, metadata.namespace, owner.name));
}

function hasEnded({ kind, metadata, ...object }: KubeObject): boolean {
  if (metadata.deletionTimestamp !== undefined) return true;
  const { status = {} } = object as {
    status?: { phase?: string; conditions?: readonly { type: string; status: string }[] };
  };
  if (kind === 'Pod') return status.phase === 'Succeeded' || status.phase === 'Failed';
  if (kind !== 'Job') return false;
  return (status.conditions ?? []).some(
    (condition) => ['Complete', 'Failed'].includes(condition.type) && condition.status === 'True',
  );
}

function withoutServerFields(object: KubeObject): KubeObject {
  const { status: _, ...rest } = object as KubeObject & { status?: unknown };
  const { uid, resourceVersion, generation, creationTimestamp, managedFields, selfLink, ...metadata } =
    object.metadata as ObjectMeta & { selfLink?: string };
  const spec = withoutServerSpec(object);
  return { ...rest, metadata, ...(spec !== undefined && { spec }) };
}

type Fields = Readonly<Record<string, unknown>>;

/** Removes decisions of the old cluster: node names, labels of a Job's controller, addresses. */
function withoutServerSpec(object: KubeObject): Fields | undefined {
  const { kind, spec } = object as KubeObject & { spec?: Fields };
  if (spec === undefined) return undefined;
  switch (kind) {
    case 'Pod': {
      const { nodeName: _, ...rest } = spec;
      return rest;
    }
    case 'Job': {
      if (spec.manualSelector === true) return spec;
      const { selector: _, ...rest } = spec;
      return { ...rest, template: withoutJobLabels(spec.template as Template | undefined) };
    }
    case 'Service': {
      const { clusterIP, clusterIPs: _, ...rest } = spec;
      return clusterIP === 'None' ? { ...rest, clusterIP } : rest;
    }
    default:
      return spec;
  }
}

interface Template {
  readonly metadata?: { readonly labels?: Readonly<Record<string, string>> };
}

const JOB_LABELS = /^(batch\.kubernetes\.io\/)?(controller-uid|job-name)$/;

function withoutJobLabels(template: Template = {}): Template {
  const labels = Object.entries(template.metadata?.labels ?? {}).filter(([key]) => !JOB_LABELS.test(key));
  return { ...template, metadata: { ...template.metadata, labels: Object.fromEntries(labels) } };
}

function keyOf(kind: string, namespace = 'default', name = ''): string {
  return `${kind} ${namespace}/${name}`;
}
