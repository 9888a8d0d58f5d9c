/** State and scheduling times of pods, under the names that Karpenter's dashboards know. */
import {
  LABEL_ARCH,
  LABEL_CAPACITY_TYPE,
  LABEL_INSTANCE_TYPE,
  LABEL_NODE_POOL,
  LABEL_ZONE,
} from '../../apis/karpenter/labels.ts';
import { keyOf, keyText } from '../../apis/kubernetes/object.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { type Clock, parseTimestamp } from '../../platform/clock.ts';
import type { HistogramMetric, Metrics } from '../../platform/metrics.ts';
import type { ClusterState } from '../../state/cluster-state.ts';
import { hasEnded } from '../../state/has-ended.ts';

export interface PodMetricsOptions {
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly state: ClusterState;
}

const STATE_LABELS = [
  'name',
  'namespace',
  'owner',
  'node',
  'scheduled',
  'nodepool',
  'zone',
  'arch',
  'capacity_type',
  'instance_type',
  'phase',
  'ready',
  'managed',
] as const;

export class PodMetrics {
  readonly #options: PodMetricsOptions;
  readonly #decision: HistogramMetric<never>;
  /** UIDs of pods that provisioning has planned for and that do not run yet. */
  readonly #decided = new Set<string>();

  constructor(options: PodMetricsOptions) {
    this.#options = options;
    const { metrics, state } = options;
    const seconds = (name: string, help: string): HistogramMetric<never> => metrics.histogram({ name, help });
    this.#decision = seconds(
      'karpenter_pods_scheduling_decision_duration_seconds',
      'From when the scheduler found a pod unschedulable until provisioning planned for it, in seconds',
    );
    const all = {
      bound: seconds(
        'karpenter_pods_bound_duration_seconds',
        'From the creation of a pod until it had a node, in seconds',
      ),
      started: seconds(
        'karpenter_pods_startup_duration_seconds',
        'From the creation of a pod until it ran, in seconds',
      ),
    };
    const provisioned = {
      bound: seconds(
        'karpenter_pods_provisioning_bound_duration_seconds',
        'The same as karpenter_pods_bound_duration_seconds, for pods that provisioning planned for',
      ),
      started: seconds(
        'karpenter_pods_provisioning_startup_duration_seconds',
        'The same as karpenter_pods_startup_duration_seconds, for pods that provisioning planned for',
      ),
    };
    const observe = (step: 'bound' | 'started', pod: Pod): void => {
      all[step].observe({}, this.#age(pod));
      if (this.#decided.has(pod.metadata.uid ?? '')) provisioned[step].observe({}, this.#age(pod));
    };
    state.informers.pods.addHandler({
      updated: (pod, old) => {
        if (isBound(pod) && !isBound(old)) observe('bound', pod);
        if (!hasStarted(pod) || hasStarted(old)) return;
        observe('started', pod);
        this.#decided.delete(pod.metadata.uid ?? '');
      },
      deleted: ({ metadata }) => void this.#decided.delete(metadata.uid ?? ''),
    });
    this.#count();
  }

  /** Records that provisioning has planned for the pod, with or without success. */
  decided(pod: Pod): void {
    const { uid = '' } = pod.metadata;
    if (isBound(pod) || this.#decided.has(uid)) return;
    this.#decided.add(uid);
    const given = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
    const since = parseTimestamp(given?.lastTransitionTime);
    if (since !== undefined) this.#decision.observe({}, (this.#options.clock.now() - since) / 1000);
  }

  #count(): void {
    const { metrics, state } = this.#options;
    const { pods, nodes } = state.informers;
    const age = (pod: Pod): number => this.#age(pod);
    const waiting = (name: string, help: string, waits: (pod: Pod) => boolean): void =>
      metrics.counted({ name, help: `${help}, in seconds, per pod`, labels: ['name', 'namespace'] }, function* () {
        for (const pod of pods.list()) yield waits(pod) && !hasEnded(pod) ? [nameOf(pod), age(pod)] : undefined;
      });
    const decided = ({ metadata }: Pod): boolean => this.#decided.has(metadata.uid ?? '');
    waiting('karpenter_pods_unbound_time_seconds', 'How long a pod has had no node', (pod) => !isBound(pod));
    waiting('karpenter_pods_unstarted_time_seconds', 'How long a pod has not run', (pod) => !hasStarted(pod));
    waiting(
      'karpenter_pods_provisioning_unbound_time_seconds',
      'How long a pod that provisioning planned for has had no node',
      (pod) => decided(pod) && !isBound(pod),
    );
    waiting(
      'karpenter_pods_provisioning_unstarted_time_seconds',
      'How long a pod that provisioning planned for has not run',
      (pod) => decided(pod) && !hasStarted(pod),
    );
    waiting(
      'karpenter_pods_provisioning_scheduling_undecided_time_seconds',
      'How long a pod without a node has not been planned for',
      (pod) => !decided(pod) && !isBound(pod),
    );
    metrics.counted(
      { name: 'karpenter_pods_state', help: '1 for each pod, with its node, pool and phase', labels: STATE_LABELS },
      function* () {
        for (const pod of pods.list()) {
          const labels = nodes.get(pod.spec.nodeName ?? '')?.metadata.labels ?? {};
          const ready = pod.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
          const owner = pod.metadata.ownerReferences?.[0];
          const series = {
            ...nameOf(pod),
            owner: owner === undefined ? '' : keyText({ ...keyOf(pod), name: owner.name }),
            node: pod.spec.nodeName ?? '',
            scheduled: `${isBound(pod)}`,
            nodepool: labels[LABEL_NODE_POOL] ?? '',
            zone: labels[LABEL_ZONE] ?? '',
            arch: labels[LABEL_ARCH] ?? '',
            capacity_type: labels[LABEL_CAPACITY_TYPE] ?? '',
            instance_type: labels[LABEL_INSTANCE_TYPE] ?? '',
            phase: pod.status?.phase ?? '',
            ready: `${ready}`,
            managed: `${labels[LABEL_NODE_POOL] !== undefined}`,
          };
          yield [series, 1];
        }
      },
    );
  }

  #age({ metadata }: Pod): number {
    const { clock } = this.#options;
    return (clock.now() - (parseTimestamp(metadata.creationTimestamp) ?? clock.now())) / 1000;
  }
}

function nameOf({ metadata }: Pod): { name: string; namespace: string } {
  return { name: metadata.name ?? '', namespace: metadata.namespace ?? '' };
}

function isBound({ spec }: Pod): boolean {
  return spec.nodeName !== undefined && spec.nodeName !== '';
}

function hasStarted(pod: Pod): boolean {
  return pod.status?.phase === 'Running' || hasEnded(pod);
}
