/** A pod as the engine sees it. */

import type { Container, Pod, PodSpec, ResourceList } from '../apis/kubernetes/pod.ts';
import { podRequests, type ResourceAmounts, resourceAmounts } from '../apis/kubernetes/pod-requests.ts';
import type { Alternatives, HostPort, PodGroup, Requirement, Resources, TopologySpread } from '../engine/problem.ts';
import { affinityTerm, nodeRequirements, podSelector, termRequirements } from './engine-requirements.ts';
import { labelToday } from './label-alias.ts';

/** Where a pod can run because of its volumes, and how many it attaches. */
export interface PodVolumes {
  readonly requirements: Alternatives;
  /** By CSI driver. */
  readonly attachments: Readonly<Record<string, number>>;
}

export const NO_VOLUMES: PodVolumes = { requirements: [], attachments: {} };

/** Inputs to scheduling that are not written in the pod. */
export interface GroupedPod {
  readonly volumes: PodVolumes;
  readonly steps: readonly Alternatives[];
  /** Nodes to prefer. */
  readonly preferredNodes?: Alternatives;
}

const NOTHING_ELSE: GroupedPod = { volumes: NO_VOLUMES, steps: [] };

/** Everything that decides where a pod can run. Empty lists are left out, so that equal pods give equal groups. */
export function podGroup(pod: Pod, { volumes, steps, preferredNodes = [] }: GroupedPod = NOTHING_ELSE): PodGroup {
  const { spec, metadata } = pod;
  const { namespace = '', name = '', labels = {} } = metadata;
  const { nodeAffinity, podAffinity, podAntiAffinity } = spec.affinity ?? {};
  const terms = (list: typeof podAffinity) =>
    (list?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map((term) => affinityTerm(term, labels));
  const wishes = (list: typeof podAffinity) =>
    (list?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(({ weight, podAffinityTerm }) => ({
      weight,
      term: affinityTerm(podAffinityTerm, labels),
    }));
  const preferred = (nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(
    ({ weight, preference }) => ({ weight, term: termRequirements(preference) }),
  );
  return {
    name: `${namespace}/${name}`,
    namespace,
    labels,
    requests: resources(podRequests(pod)),
    ...inSteps(nodeRequirements(spec), steps),
    ...filled('preferredNodeAffinity', preferred),
    ...filled('preferredNodes', preferredNodes),
    ...filled('tolerations', spec.tolerations ?? []),
    ...filled('hostPorts', hostPorts(spec)),
    ...filled('topologySpread', spread(spec, labels)),
    ...filled('podAffinity', terms(podAffinity)),
    ...filled('podAntiAffinity', terms(podAntiAffinity)),
    ...filled('preferredPodAffinity', wishes(podAffinity)),
    ...filled('preferredPodAntiAffinity', wishes(podAntiAffinity)),
    ...filled('volumeRequirements', volumes.requirements),
    ...(Object.keys(volumes.attachments).length === 0 ? {} : { volumeAttachments: volumes.attachments }),
    ...(spec.priority === undefined || spec.priority === 0 ? {} : { priority: spec.priority }),
  };
}

/** Combines each step with each term of the pod's own; no step and no term is dropped. */
function inSteps(
  terms: Alternatives,
  steps: readonly Alternatives[],
): Pick<PodGroup, 'requirements' | 'ordered' | 'stepSizes'> {
  if (steps.length === 0) return filled('requirements', terms);
  const own: Alternatives = terms.length === 0 ? [[]] : terms;
  const all = steps.map((step) =>
    step.flatMap((list) => own.map((term): readonly Requirement[] => [...term, ...list])),
  );
  const requirements = all.flat();
  if (all.length === 1) return requirements.some((list) => list.length === 0) ? {} : { requirements };
  const stepSizes = all.map(({ length }) => length);
  return { requirements, ordered: true, ...(stepSizes.every((size) => size === 1) ? {} : { stepSizes }) };
}

/** Amounts as the engine counts them: exact up to 2^53, which is 8 PiB of memory. */
export function resources(amounts: ResourceAmounts): Resources {
  return Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, Number(amount)]));
}

// Cached objects are replaced, never changed, so this stays valid as long as the list exists.
const READ = new WeakMap<ResourceList, Resources>();

/** A resource list in the engine's units, cached with the list. */
export function listedResources(list: ResourceList): Resources {
  const known = READ.get(list);
  if (known !== undefined) return known;
  const read = resources(resourceAmounts(list));
  READ.set(list, read);
  return read;
}

/** Host ports of a pod. On the host network, every container port is a host port. */
export function hostPorts(spec: PodSpec): HostPort[] {
  const containers: readonly Container[] = [...spec.containers, ...(spec.initContainers ?? [])];
  return containers.flatMap((container) =>
    (container.ports ?? []).flatMap(
      ({ hostPort = spec.hostNetwork ? undefined : 0, containerPort, protocol, hostIP }) => {
        const port = hostPort ?? containerPort;
        if (port === 0) return [];
        const address =
          hostIP === undefined || hostIP === '' || hostIP === '0.0.0.0' || hostIP === '::' ? {} : { hostIP };
        return [{ port, ...(protocol === undefined ? {} : { protocol }), ...address }];
      },
    ),
  );
}

function spread(spec: PodSpec, labels: Readonly<Record<string, string>>): TopologySpread[] {
  return (spec.topologySpreadConstraints ?? []).map((constraint) => {
    const { topologyKey, labelSelector, matchLabelKeys, ...rest } = constraint;
    const selector = podSelector(labelSelector, labels, matchLabelKeys);
    return { ...rest, topologyKey: labelToday(topologyKey), ...(selector === undefined ? {} : { selector }) };
  });
}

function filled<Name extends string, T>(name: Name, list: readonly T[]): { readonly [Key in Name]?: readonly T[] } {
  return (list.length === 0 ? {} : { [name]: list }) as { readonly [Key in Name]?: readonly T[] };
}
