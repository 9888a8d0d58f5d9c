/**
 * The fields of pods that are cached. Pods are the most numerous objects, and only a small part of each decides where it can run, when it
 * can be evicted and what it costs. Images (except for pods of models), environments, mounts, probes and container statuses are left out.
 * Parts that pods of a workload have in common are stored once.
 */
import { KARPENTER_GROUP } from '../apis/karpenter/labels.ts';
import type { Condition, ObjectMeta } from '../apis/kubernetes/object.ts';
import type { Container, Pod, PodSpec, PodStatus, Volume } from '../apis/kubernetes/pod.ts';
import { LEADER_WORKER_SET_DOMAIN } from '../apis/leader-worker-set/labels.ts';
import { LLMAZ_GROUP } from '../apis/llmaz/labels.ts';
import { SPINDRIFT_GROUP } from '../apis/spindrift/group.ts';
import { Alike } from '../platform/alike.ts';
import { dependsOnModel } from './model-flavors.ts';
import { hasClaim } from './pod-volumes.ts';

/** Fields that differ between pods of a workload. */
const OWN_METADATA = [
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
] as const satisfies readonly (keyof ObjectMeta)[];

const SPEC = [
  'nodeSelector',
  'affinity',
  'tolerations',
  'topologySpreadConstraints',
  'priority',
  'priorityClassName',
  'schedulerName',
  'schedulingGates',
  'terminationGracePeriodSeconds',
  'overhead',
  'resources',
  'resourceClaims',
  'hostNetwork',
] as const satisfies readonly (keyof PodSpec)[];

const CONTAINER = ['name', 'resources', 'ports', 'restartPolicy'] as const satisfies readonly (keyof Container)[];
/** Nodes that already hold the image of a model's server are preferred. */
const MODEL_CONTAINER = [...CONTAINER, 'image'] as const satisfies readonly (keyof Container)[];
const STATUS = ['phase', 'nominatedNodeName', 'startTime'] as const satisfies readonly (keyof PodStatus)[];
const CONDITION = ['type', 'status', 'reason', 'lastTransitionTime'] as const satisfies readonly (keyof Condition)[];
const CONDITIONS: readonly string[] = ['PodScheduled', 'Ready'];
/** Other annotations can be of any size and are not needed. */
const ANNOTATION_DOMAINS: readonly string[] = [
  KARPENTER_GROUP,
  SPINDRIFT_GROUP,
  LLMAZ_GROUP,
  LEADER_WORKER_SET_DOMAIN,
  'kubernetes.io',
  'controller.kubernetes.io',
];

export class SlimPods {
  readonly #alike = new Alike();

  /** The pod, reduced to the fields that are needed. */
  of(pod: Pod): Pod {
    const { apiVersion, kind, metadata, spec, status } = pod;
    const { nodeName } = spec;
    const slim: { -readonly [Key in keyof Pod]: Pod[Key] } = {
      ...{ apiVersion, kind },
      metadata: this.#metadata(metadata),
      spec: {
        ...this.#alike.of(slimSpec(spec, dependsOnModel(pod) ? MODEL_CONTAINER : CONTAINER)),
        ...(nodeName === undefined ? {} : { nodeName }),
      },
    };
    if (status !== undefined) slim.status = this.#status(status);
    return slim;
  }

  #metadata(metadata: ObjectMeta): ObjectMeta {
    const { labels, ownerReferences } = metadata;
    const annotations = slimAnnotations(metadata.annotations);
    return {
      ...pick(metadata, OWN_METADATA),
      ...(labels === undefined ? {} : { labels: this.#alike.of(labels) }),
      ...(annotations === undefined ? {} : { annotations: this.#alike.of(annotations) }),
      ...(ownerReferences === undefined ? {} : { ownerReferences: this.#alike.of(ownerReferences) }),
    };
  }

  #status(status: PodStatus): PodStatus {
    const conditions = status.conditions
      ?.filter(({ type }) => CONDITIONS.includes(type))
      // Pods created together are often scheduled and ready in the same second.
      .map((condition) => this.#alike.of(pick(condition, CONDITION)));
    return { ...pick(status, STATUS), ...(conditions === undefined ? {} : { conditions }) };
  }
}

function slimSpec(spec: PodSpec, ofContainer: readonly (keyof Container)[]): PodSpec {
  const { containers, initContainers, volumes } = spec;
  const claims = volumes?.filter(hasClaim).map(slimVolume) ?? [];
  return {
    ...pick(spec, SPEC),
    containers: containers.map((container) => pick(container, ofContainer) as Container),
    ...(initContainers === undefined
      ? {}
      : { initContainers: initContainers.map((container) => pick(container, CONTAINER)) }),
    ...(claims.length === 0 ? {} : { volumes: claims }),
  };
}

/** An ephemeral volume's template is also in its claim. */
function slimVolume({ name, persistentVolumeClaim }: Volume): Volume {
  return persistentVolumeClaim === undefined ? { name, ephemeral: {} } : { name, persistentVolumeClaim };
}

function slimAnnotations(annotations: ObjectMeta['annotations']): ObjectMeta['annotations'] {
  const ours = Object.entries(annotations ?? {}).filter(([key]) =>
    ANNOTATION_DOMAINS.includes(key.slice(0, Math.max(0, key.indexOf('/')))),
  );
  return ours.length === 0 ? undefined : Object.fromEntries(ours);
}

function pick<T extends object, Key extends keyof T>(from: T, keys: readonly Key[]): Pick<T, Key> {
  const picked: Partial<Pick<T, Key>> = {};
  for (const key of keys) if (from[key] !== undefined) picked[key] = from[key];
  return picked as Pick<T, Key>;
}
