/**
 * The real requests of DaemonSet pods. API server defaults, LimitRanges, webhooks and vertical autoscalers change what the template says,
 * so the newest pod of the present template counts, even if it is pending. Without such a pod, the template counts with the LimitRanges of
 * its namespace applied.
 */
import { admittedSpec, type LimitRange } from '../apis/kubernetes/limit-range.ts';
import type { Pod } from '../apis/kubernetes/pod.ts';
import type { DaemonSet } from '../apis/kubernetes/workloads.ts';
import type { ClusterInformers } from './cluster-informers.ts';
import { hasEnded } from './has-ended.ts';

/** The template generation of a pod (label) and of its DaemonSet (annotation). */
const LABEL_TEMPLATE_GENERATION = 'pod-template-generation';
const ANNOTATION_TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

type Followed = Pick<ClusterInformers, 'pods' | 'daemonSets' | 'limitRanges'>;

interface Known {
  /** The pod or LimitRanges it was computed from. */
  readonly from: Pod | readonly LimitRange[];
  readonly daemonSet: DaemonSet;
}

export class DaemonPods {
  readonly #informers: Followed;
  /** The newest pod, by the UID of its DaemonSet. */
  readonly #newest = new Map<string, Pod>();
  /** DaemonSets whose newest pod was deleted: the next newest must be found. */
  readonly #bereft = new Set<string>();
  #limitRanges: ReadonlyMap<string, readonly LimitRange[]> | undefined;
  readonly #known = new WeakMap<DaemonSet, Known>();

  constructor(informers: Followed) {
    this.#informers = informers;
    informers.pods.addHandler({
      added: (pod) => this.#seen(pod),
      updated: (pod) => this.#seen(pod),
      deleted: (pod) => this.#gone(pod),
    });
    const forget = (): void => {
      this.#limitRanges = undefined;
    };
    informers.limitRanges.addHandler({ added: forget, updated: forget, deleted: forget });
    informers.daemonSets.addHandler({
      deleted: ({ metadata: { uid = '' } }) => {
        this.#newest.delete(uid);
        this.#bereft.delete(uid);
      },
    });
  }

  /** Every DaemonSet, with the requests that its pods really have. */
  list(): DaemonSet[] {
    this.#lookForOthers();
    return this.#informers.daemonSets.list().map((daemonSet) => this.#effective(daemonSet));
  }

  #effective(daemonSet: DaemonSet): DaemonSet {
    const { uid = '', namespace = '' } = daemonSet.metadata;
    const pod = this.#newest.get(uid);
    const from = pod !== undefined && isOfPresentTemplate(pod, daemonSet) ? pod : this.#rangesOf(namespace);
    const known = this.#known.get(daemonSet);
    if (known?.from === from) return known.daemonSet;
    const effective = withPodSpec(daemonSet, from);
    this.#known.set(daemonSet, { from, daemonSet: effective });
    return effective;
  }

  #rangesOf(namespace: string): readonly LimitRange[] {
    this.#limitRanges ??= Map.groupBy(this.#informers.limitRanges.list(), ({ metadata }) => metadata.namespace ?? '');
    return this.#limitRanges.get(namespace) ?? NO_RANGES;
  }

  #seen(pod: Pod): void {
    const uid = daemonSetOf(pod);
    if (uid === undefined || hasEnded(pod)) return;
    const newest = this.#newest.get(uid);
    const isNewer = newest === undefined || createdAt(pod) >= createdAt(newest);
    if (isNewer) this.#newest.set(uid, pod);
  }

  #gone(pod: Pod): void {
    const uid = daemonSetOf(pod);
    if (uid === undefined || this.#newest.get(uid)?.metadata.uid !== pod.metadata.uid) return;
    this.#newest.delete(uid);
    this.#bereft.add(uid);
  }

  /** Scans all pods, so it does this once for all DaemonSets that need it. */
  #lookForOthers(): void {
    if (this.#bereft.size === 0) return;
    for (const pod of this.#informers.pods.list()) if (this.#bereft.has(daemonSetOf(pod) ?? '')) this.#seen(pod);
    this.#bereft.clear();
  }
}

const NO_RANGES: readonly LimitRange[] = [];

function withPodSpec(daemonSet: DaemonSet, from: Pod | readonly LimitRange[]): DaemonSet {
  const { template } = daemonSet.spec;
  const spec = 'spec' in from ? podSpec(template.spec, from) : admittedSpec(template.spec, from);
  return spec === template.spec
    ? daemonSet
    : { ...daemonSet, spec: { ...daemonSet.spec, template: { ...template, spec } } };
}

/** The template with the requests of the pod. Scheduling rules stay those of the template, because the pod is tied to its own node. */
function podSpec(template: DaemonSet['spec']['template']['spec'], { spec }: Pod) {
  const { initContainers: _, overhead: __, resources: ___, ...rest } = template;
  const { containers, initContainers, overhead, resources } = spec;
  return {
    ...rest,
    containers,
    ...(initContainers && { initContainers }),
    ...(overhead && { overhead }),
    ...(resources && { resources }),
  };
}

function daemonSetOf({ metadata }: Pod): string | undefined {
  return metadata.ownerReferences?.find(({ kind, controller }) => kind === 'DaemonSet' && controller === true)?.uid;
}

function isOfPresentTemplate({ metadata }: Pod, daemonSet: DaemonSet): boolean {
  const own = metadata.labels?.[LABEL_TEMPLATE_GENERATION];
  const { annotations, generation } = daemonSet.metadata;
  const present = annotations?.[ANNOTATION_TEMPLATE_GENERATION] ?? generation?.toString();
  return own === undefined || present === undefined || own === present;
}

function createdAt({ metadata }: Pod): string {
  return metadata.creationTimestamp ?? '';
}
