import { LABEL_NODE_POOL, LABEL_ZONE } from '../../apis/karpenter/labels.ts';
import type { KubeObject } from '../../apis/kubernetes/object.ts';
import type { Metrics } from '../../platform/metrics.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Metrics of nodes and of their evicted pods, with Karpenter's names and labels. */
export class NodeMetrics {
  readonly #created;
  readonly #terminated;
  readonly #drained;
  readonly #terminationSeconds;
  readonly #lifetimeSeconds;
  readonly #evictions;
  readonly #drainedPods;

  constructor(metrics: Metrics) {
    const labels = ['nodepool', 'zone'] as const;
    this.#created = metrics.counter({
      name: 'karpenter_nodes_created_total',
      help: 'Nodes registered, per NodePool and zone',
      labels,
    });
    this.#terminated = metrics.counter({
      name: 'karpenter_nodes_terminated_total',
      help: 'Nodes terminated with their machine, per NodePool and zone',
      labels,
    });
    this.#drained = metrics.counter({
      name: 'karpenter_nodes_drained_total',
      help: 'Nodes drained of all pods, per NodePool',
      labels: ['nodepool'],
    });
    this.#terminationSeconds = metrics.histogram({
      name: 'karpenter_nodes_termination_duration_seconds',
      help: 'From the deletion of a node until it was gone, in seconds, per NodePool',
      labels: ['nodepool'],
    });
    this.#lifetimeSeconds = metrics.histogram({
      name: 'karpenter_nodes_lifetime_duration_seconds',
      help: 'From the creation of a node until it was gone, in seconds, per NodePool',
      labels: ['nodepool'],
      buckets: [
        15 * MINUTE,
        30 * MINUTE,
        HOUR,
        2 * HOUR,
        6 * HOUR,
        12 * HOUR,
        DAY,
        2 * DAY,
        7 * DAY,
        15 * DAY,
        30 * DAY,
      ],
    });
    this.#evictions = metrics.counter({
      name: 'karpenter_pods_eviction_requests_total',
      help: 'Eviction requests, per HTTP status of the response',
      labels: ['code'],
    });
    this.#drainedPods = metrics.counter({
      name: 'karpenter_pods_drained_total',
      help: 'Pods removed from nodes, per reason: evicted, deleted at the deadline, or deleted because the machine is gone',
      labels: ['reason'],
    });
  }

  created({ metadata }: KubeObject): void {
    this.#created.add(placeOf(metadata.labels));
  }

  terminated({ metadata }: KubeObject, seconds: number, lifetimeSeconds: number): void {
    const place = placeOf(metadata.labels);
    this.#terminated.add(place);
    this.#terminationSeconds.observe({ nodepool: place.nodepool }, seconds);
    this.#lifetimeSeconds.observe({ nodepool: place.nodepool }, lifetimeSeconds);
  }

  drained({ metadata }: KubeObject): void {
    this.#drained.add({ nodepool: placeOf(metadata.labels).nodepool });
  }

  evictionAnswered(code: number): void {
    this.#evictions.add({ code: String(code) });
  }

  podDrained(reason: 'evicted' | 'deadline' | 'machine_gone'): void {
    this.#drainedPods.add({ reason });
  }
}

function placeOf(labels: Readonly<Record<string, string>> = {}): { nodepool: string; zone: string } {
  return { nodepool: labels[LABEL_NODE_POOL] ?? '', zone: labels[LABEL_ZONE] ?? '' };
}
