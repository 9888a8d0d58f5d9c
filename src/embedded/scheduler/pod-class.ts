/**
 * Pods that are equal in everything the scheduler looks at form a class. Whatever depends on the pod alone is
 * calculated once per class, and a failure of one pod need not be tried again with the next.
 */
import type { Labels } from '../../apis/kubernetes/label-requirement.ts';
import { compileNodeSelectorTerm, type NodeMatcher, requiredNodes } from '../../apis/kubernetes/node-selector.ts';
import type { ContainerPort, Pod, PodAffinity, PodSpec } from '../../apis/kubernetes/pod.ts';
import { assumedPodRequests, podRequests } from '../../apis/kubernetes/pod-requests.ts';
import type { FitFailure } from './fit-failure.ts';
import { type PodTerm, podTerm, type SpreadConstraint, spreadConstraint } from './pod-terms.ts';
import type { ResourceColumns } from './resource-columns.ts';
import { StaticVerdicts } from './static-filter.ts';

export interface WeightedTerm {
  readonly weight: number;
  readonly term: PodTerm;
}

export interface PodClass {
  readonly namespace: string;
  readonly labels: Labels;
  readonly spec: PodSpec;
  /** Requests by resource column; no zeros. */
  readonly requests: readonly { readonly column: number; readonly amount: number }[];
  /** CPU and memory for scoring, with assumed amounts if none are requested. */
  readonly assumedCpu: number;
  readonly assumedMemory: number;
  readonly hostPorts: readonly string[];
  readonly nodes: NodeMatcher;
  /** The only nodes that can match, if the pod names them (as DaemonSet pods do). */
  readonly namedNodes?: ReadonlySet<string>;
  readonly preferredNodes: readonly { readonly weight: number; readonly matcher: NodeMatcher }[];
  readonly hardSpread: readonly SpreadConstraint[];
  readonly softSpread: readonly SpreadConstraint[];
  readonly affinity: readonly PodTerm[];
  readonly antiAffinity: readonly PodTerm[];
  /** Negative weights repel. */
  readonly preferredPods: readonly WeightedTerm[];
  /** The controller whose pods are spread by default. */
  readonly ownerUid: string | undefined;
  readonly claimNames: readonly string[];
  /** Cached results of filters that depend on the class and the Node object alone. */
  readonly verdicts: StaticVerdicts;
  /** Why no node fits, for one version of the snapshot. */
  failure?: { readonly version: number; readonly failure: FitFailure };
}

/** Whether placed pods affect this class, so that any change of pods may help it. */
export function dependsOnPods(podClass: PodClass): boolean {
  return podClass.hardSpread.length > 0 || podClass.affinity.length > 0 || podClass.antiAffinity.length > 0;
}

/** Equal for pods that the scheduler need not distinguish. */
export function podClassKey(pod: Pod): string {
  const { spec, metadata } = pod;
  const needs = (container: PodSpec['containers'][number]): unknown => [
    container.resources?.requests,
    container.ports?.some((port) => port.hostPort || spec.hostNetwork) ? container.ports : 0,
    container.restartPolicy,
  ];
  return JSON.stringify([
    metadata.namespace,
    metadata.labels,
    ownerUidOf(pod),
    spec.containers.map(needs),
    spec.initContainers?.map(needs),
    spec.resources?.requests,
    spec.overhead,
    spec.nodeSelector,
    spec.affinity,
    spec.tolerations,
    spec.topologySpreadConstraints,
    spec.preemptionPolicy,
    claimNamesOf(pod),
  ]);
}

/** Builds a class from one of its pods. */
export function makePodClass(pod: Pod, columns: ResourceColumns): PodClass {
  const { spec } = pod;
  const namespace = pod.metadata.namespace ?? '';
  const labels = pod.metadata.labels ?? {};
  const assumed = assumedPodRequests(pod);
  const spread = (spec.topologySpreadConstraints ?? []).map((constraint) => ({
    hard: constraint.whenUnsatisfiable === 'DoNotSchedule',
    constraint: spreadConstraint(constraint, namespace, labels),
  }));
  const required = (affinity: PodAffinity | undefined): PodTerm[] =>
    (affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map((term) => podTerm(term, namespace, labels));
  const preferred = (affinity: PodAffinity | undefined, sign: number): WeightedTerm[] =>
    (affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(({ weight, podAffinityTerm }) => ({
      weight: sign * weight,
      term: podTerm(podAffinityTerm, namespace, labels),
    }));
  const namedNodes = namedNodesOf(spec);
  return {
    namespace,
    labels,
    spec,
    requests: Object.entries(podRequests(pod))
      .filter(([, amount]) => amount > 0n)
      .map(([name, amount]) => ({ column: columns.column(name), amount: Number(amount) })),
    assumedCpu: Number(assumed.cpu ?? 0n),
    assumedMemory: Number(assumed.memory ?? 0n),
    hostPorts: hostPortsOf(spec),
    nodes: requiredNodes(spec),
    ...(namedNodes && { namedNodes }),
    preferredNodes: (spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).flatMap(
      ({ weight, preference }) => {
        const matcher = compileNodeSelectorTerm(preference);
        return matcher === undefined ? [] : [{ weight, matcher }];
      },
    ),
    hardSpread: spread.filter(({ hard }) => hard).map(({ constraint }) => constraint),
    softSpread: spread.filter(({ hard }) => !hard).map(({ constraint }) => constraint),
    affinity: required(spec.affinity?.podAffinity),
    antiAffinity: required(spec.affinity?.podAntiAffinity),
    preferredPods: [...preferred(spec.affinity?.podAffinity, 1), ...preferred(spec.affinity?.podAntiAffinity, -1)],
    ownerUid: ownerUidOf(pod),
    claimNames: claimNamesOf(pod),
    verdicts: new StaticVerdicts(),
  };
}

/** The host ports of the pod, as `protocol/ip/port`. */
export function hostPortsOf(spec: PodSpec): string[] {
  const portOf = (port: ContainerPort): number => port.hostPort || (spec.hostNetwork ? port.containerPort : 0);
  // Sidecars run as long as the containers, so their ports count as well.
  const lasting = [
    ...spec.containers,
    ...(spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always'),
  ];
  return lasting
    .flatMap((container) => container.ports ?? [])
    .filter((port) => portOf(port) > 0)
    .map((port) => `${port.protocol ?? 'TCP'}/${port.hostIP || '0.0.0.0'}/${portOf(port)}`);
}

function ownerUidOf(pod: Pod): string | undefined {
  return pod.metadata.ownerReferences?.find((owner) => owner.controller)?.uid;
}

/** The claims of the pod. The claim of an ephemeral volume is named after the pod and the volume. */
function claimNamesOf(pod: Pod): string[] {
  return (pod.spec.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim !== undefined) return [persistentVolumeClaim.claimName];
    return ephemeral === undefined ? [] : [`${pod.metadata.name}-${name}`];
  });
}

/** The nodes that the terms name. If every term names nodes, only those can match (kube-scheduler NodeAffinity PreFilter). */
function namedNodesOf(spec: PodSpec): ReadonlySet<string> | undefined {
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  if (terms.length === 0) return undefined;
  const names = new Set<string>();
  for (const { matchFields } of terms) {
    const named = matchFields?.filter(({ key, operator }) => key === 'metadata.name' && operator === 'In') ?? [];
    if (named.length === 0) return undefined;
    for (const { values } of named) for (const value of values ?? []) names.add(value);
  }
  return names;
}
