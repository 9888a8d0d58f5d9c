/**
 * What kubelets, workload controllers and the scheduler do while a fleet shrinks, with as little work as can be, because it is
 * not theirs that is measured: a pod that is told to leave is gone a moment later, and one like it runs on the open node with
 * fewest pods, or waits for one. A machine that joins is ready at once.
 */
import { NODES, type Node } from '../../src/apis/kubernetes/node.ts';
import { keyOf } from '../../src/apis/kubernetes/object.ts';
import { PODS, type Pod } from '../../src/apis/kubernetes/pod.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import type { Clock } from '../../src/platform/clock.ts';
import { toTimestamp } from '../../src/platform/clock.ts';
import type { ClusterInformers } from '../../src/state/cluster-informers.ts';
import { isReady } from '../../src/state/is-ready.ts';

export interface LifeOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly informers: ClusterInformers;
  /** So many pods have room on a node. */
  readonly podsPerNode: number;
}

const TURN_MS = 5;
/** So many pods come and go in one turn at most. */
const PODS_PER_TURN = 20;

export class LifeGoesOn {
  readonly #options: LifeOptions;
  readonly #leaving: Pod[] = [];
  readonly #waiting: Pod[] = [];
  readonly #joined: Node[] = [];
  /** Pods by node, with those that have been bound and that the cache does not show there yet. */
  readonly #crowd = new Map<string, number>();
  readonly #bound = new Set<string>();
  #made = 0;

  constructor(options: LifeOptions) {
    this.#options = options;
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, informers } = this.#options;
    const stops = [
      informers.pods.addHandler({
        added: (pod) => this.#came(pod),
        updated: (pod, old) => {
          if (pod.spec.nodeName !== old.spec.nodeName) this.#came(pod);
          if (isLeaving(pod) && !isLeaving(old)) this.#leaving.push(pod);
        },
        deleted: ({ spec }) => this.#count(spec.nodeName ?? '', -1),
      }),
      informers.nodes.addHandler({ added: (node) => void (isReady(node) || this.#joined.push(node)) }),
    ];
    try {
      for (;;) {
        await clock.sleep(TURN_MS, signal);
        for (const node of this.#joined.splice(0)) await this.#makeReady(node);
        for (const pod of this.#leaving.splice(0, PODS_PER_TURN)) await this.#replace(pod);
        for (const pod of this.#waiting.splice(0, PODS_PER_TURN)) await this.#bind(pod);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      for (const stop of stops) stop();
    }
  }

  async #replace(pod: Pod): Promise<void> {
    const { client } = this.#options;
    await client.delete(PODS, keyOf(pod), { gracePeriodSeconds: 0 });
    const { namespace, labels, ownerReferences } = pod.metadata;
    const { nodeName: _, ...spec } = pod.spec;
    const name = `again-${this.#made++}`;
    const metadata = { name, ...{ namespace, labels, ownerReferences } } as Pod['metadata'];
    this.#waiting.push(await client.create(PODS, { apiVersion: 'v1', kind: 'Pod', metadata, spec }));
  }

  async #bind(pod: Pod): Promise<void> {
    const { client, clock, informers } = this.#options;
    // The autoscaler binds pods to nodes that it made for them.
    if (informers.pods.get(keyOf(pod))?.spec.nodeName) return;
    const node = this.#leastCrowded();
    if (node !== undefined) {
      this.#count(node, 1);
      this.#bound.add(pod.metadata.uid ?? '');
      await client.bind(keyOf(pod), node);
      return;
    }
    this.#waiting.push(pod);
    if (pod.status?.conditions !== undefined) return;
    const at = { lastTransitionTime: toTimestamp(clock.now()) };
    const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '', ...at };
    const body = { status: { conditions: [condition] } };
    this.#waiting[this.#waiting.length - 1] = await client.patch(
      PODS,
      keyOf(pod),
      { type: 'merge', body },
      { subresource: 'status' },
    );
  }

  #leastCrowded(): string | undefined {
    const { informers, podsPerNode } = this.#options;
    let best: string | undefined;
    let least = podsPerNode;
    for (const { metadata, spec } of informers.nodes.list()) {
      if (spec?.unschedulable === true || (spec?.taints ?? []).length > 0) continue;
      const name = metadata.name ?? '';
      const pods = this.#crowd.get(name) ?? 0;
      if (pods >= least) continue;
      least = pods;
      best = name;
    }
    return best;
  }

  #came({ metadata, spec }: Pod): void {
    if (!this.#bound.delete(metadata.uid ?? '')) this.#count(spec.nodeName ?? '', 1);
  }

  #count(node: string, by: number): void {
    this.#crowd.set(node, (this.#crowd.get(node) ?? 0) + by);
  }

  async #makeReady({ metadata }: Node): Promise<void> {
    const { client, clock } = this.#options;
    const at = { lastTransitionTime: toTimestamp(clock.now()) };
    const conditions = [{ type: 'Ready', status: 'True', reason: 'KubeletReady', message: '', ...at }];
    const patch = { type: 'merge' as const, body: { status: { conditions } } };
    await client.patch(NODES, { name: metadata.name ?? '' }, patch, { subresource: 'status' });
  }
}

function isLeaving({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined;
}
