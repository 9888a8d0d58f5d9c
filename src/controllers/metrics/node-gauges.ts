/** Resources, requests and age of nodes, under the names that Karpenter's dashboards know. */
import { CORE_LABEL_RULES } from '../../apis/karpenter/label-rules.ts';
import type { Node } from '../../apis/kubernetes/node.ts';
import type { Container, Pod } from '../../apis/kubernetes/pod.ts';
import { type ResourceAmounts, resourceAmounts } from '../../apis/kubernetes/pod-requests.ts';
import { type Clock, parseTimestamp } from '../../platform/clock.ts';
import type { Metrics } from '../../platform/metrics.ts';
import type { ClusterState } from '../../state/cluster-state.ts';
import { knownRequests } from '../../state/known-requests.ts';
import { isGoing, isManaged, labelsOf, type StateNode } from '../../state/state-node.ts';
import { inBaseUnits } from './base-units.ts';

export interface NodeGaugesOptions {
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly state: ClusterState;
  /** Cloud-specific node labels to add as metric labels. */
  readonly cloudLabels: readonly string[];
}

type Gauge = (state: StateNode & { readonly node: Node }) => ResourceAmounts;

/** Registers gauges that are computed on each scrape. */
export function nodeGauges({ metrics, clock, state, cloudLabels }: NodeGaugesOptions): void {
  const keys = [...new Set([...CORE_LABEL_RULES.wellKnown, ...cloudLabels])];
  const names = keys.map(metricLabel);
  const labels = (of: StateNode): Record<string, string> => {
    const has = labelsOf(of);
    const known = Object.fromEntries(keys.map((key, index) => [names[index] as string, has[key] ?? '']));
    return {
      ...known,
      node_name: of.name,
      phase: isGoing(of) ? 'Terminating' : 'Running',
      managed: `${isManaged(of)}`,
    };
  };
  const nodes = () => state.nodes().flatMap(({ node, ...rest }) => (node === undefined ? [] : [{ ...rest, node }]));
  const daemons = (name: string): Pod[] => state.podsOn(name).filter(isDaemon);
  const gauges: Readonly<Record<string, readonly [string, Gauge]>> = {
    karpenter_nodes_allocatable: [
      'Allocatable resources of a node',
      ({ node }) => resourceAmounts(node.status?.allocatable),
    ],
    karpenter_nodes_system_overhead: ['Capacity of a node that is not allocatable', ({ node }) => overhead(node)],
    karpenter_nodes_total_pod_requests: [
      'Requests of pods on a node, without DaemonSet pods',
      ({ name }) => total(others(state.podsOn(name)), asked),
    ],
    karpenter_nodes_total_pod_limits: [
      'Limits of pods on a node, without DaemonSet pods',
      ({ name }) => total(others(state.podsOn(name)), podLimits),
    ],
    karpenter_nodes_total_daemon_requests: [
      'Requests of DaemonSet pods on a node',
      ({ name }) => total(daemons(name), asked),
    ],
    karpenter_nodes_total_daemon_limits: [
      'Limits of DaemonSet pods on a node',
      ({ name }) => total(daemons(name), podLimits),
    ],
  };
  for (const [name, [help, amounts]] of Object.entries(gauges)) {
    const definition = {
      name,
      help: `${help}, per node and resource, in base units`,
      labels: [...names, 'node_name', 'phase', 'managed', 'resource_type'],
    };
    metrics.counted(definition, function* () {
      for (const node of nodes()) {
        yield undefined;
        const own = labels(node);
        for (const [resource, amount] of inBaseUnits(amounts(node)))
          yield [{ ...own, resource_type: resource }, amount];
      }
    });
  }
  const lifetime = {
    name: 'karpenter_nodes_current_lifetime_seconds',
    help: 'Age of a node, in seconds, per node',
    labels: [...names, 'node_name', 'phase', 'managed'],
  };
  metrics.counted(lifetime, function* () {
    for (const node of nodes()) {
      const since = parseTimestamp(node.node.metadata.creationTimestamp) ?? clock.now();
      yield [labels(node), (clock.now() - since) / 1000];
    }
  });
}

/** `topology.kubernetes.io/zone` is `zone`. */
function metricLabel(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1).replaceAll(/[^A-Za-z0-9]/g, '_');
}

function isDaemon({ metadata }: Pod): boolean {
  return metadata.ownerReferences?.some(({ kind }) => kind === 'DaemonSet') ?? false;
}

function others(pods: readonly Pod[]): Pod[] {
  return pods.filter((pod) => !isDaemon(pod));
}

function overhead({ status }: Node): ResourceAmounts {
  const allocatable = resourceAmounts(status?.allocatable);
  const capacity = Object.entries(resourceAmounts(status?.capacity));
  return Object.fromEntries(capacity.map(([name, amount]) => [name, amount - (allocatable[name] ?? 0n)]));
}

function asked(pod: Pod): ResourceAmounts {
  return knownRequests(pod).amounts;
}

function podLimits({ spec }: Pod): ResourceAmounts {
  return total(spec.containers, ({ resources }: Container) => resourceAmounts(resources?.limits));
}

function total<T>(of: readonly T[], amounts: (one: T) => ResourceAmounts): ResourceAmounts {
  const sum: Record<string, bigint> = {};
  for (const one of of) {
    for (const [name, amount] of Object.entries(amounts(one))) sum[name] = (sum[name] ?? 0n) + amount;
  }
  return sum;
}
