/** Watches pods and claims, and records evictions, in the order in which the API server stored them. */
import { NODE_CLAIMS } from '../../../src/apis/karpenter/node-claim.ts';
import { PODS, type Pod } from '../../../src/apis/kubernetes/pod.ts';
import type { KubeClient } from '../../../src/kube/client.ts';
import { Informer } from '../../../src/kube/informer.ts';
import type { Clock } from '../../../src/platform/clock.ts';
import { seededRandom } from '../../../src/platform/random.ts';

export interface DisruptionWatchOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  /** The value of the label `app` of pods that have a budget. */
  readonly apps: readonly string[];
  /** The number of ready pods that each budget requires. */
  readonly wanted: number;
}

export class DisruptionWatch {
  /** Budgets that an eviction violated, as sentences. */
  readonly broken: string[] = [];
  /** Pods that had not left their node when its machine was lost. */
  readonly late: string[] = [];
  /** Revisions of the first claim and the first eviction since the start or the last `forget`. */
  firstClaim = Number.POSITIVE_INFINITY;
  firstEviction = Number.POSITIVE_INFINITY;
  readonly #options: DisruptionWatchOptions;
  readonly #pods: Informer<Pod>;
  readonly #claims;
  readonly #deadlines = new Map<string, number>();
  readonly #evicted = new Map<string, number>();
  #from = 0;

  constructor(options: DisruptionWatchOptions) {
    const { client, clock } = options;
    this.#options = options;
    const random = seededRandom('watch');
    this.#pods = new Informer({ client, clock, random, kind: PODS });
    this.#claims = new Informer({ client, clock, random, kind: NODE_CLAIMS });
    this.#pods.addHandler({ updated: (pod, old) => this.#changed(pod, old), deleted: (pod) => this.#gone(pod) });
    this.#claims.addHandler({
      added: ({ metadata }) => {
        const revision = Number(metadata.resourceVersion);
        if (revision > this.#from) this.firstClaim = Math.min(this.firstClaim, revision);
      },
    });
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#pods.run(signal), this.#claims.run(signal)]);
  }

  /** The machines of these nodes are lost at the deadline. Starts to look for the first claim and the first eviction. */
  expect(nodes: readonly string[], deadline: number): void {
    for (const node of nodes) this.#deadlines.set(node, deadline);
    this.forget();
  }

  /** Ignores everything that happened until now. */
  forget(): void {
    const revisions = [...this.#pods.list(), ...this.#claims.list()].map(({ metadata }) =>
      Number(metadata.resourceVersion),
    );
    this.#from = Math.max(0, ...revisions);
    this.firstClaim = Number.POSITIVE_INFINITY;
    this.firstEviction = Number.POSITIVE_INFINITY;
  }

  /** The number of pods evicted from these nodes. */
  evictedFrom(nodes: readonly string[]): number {
    return nodes.reduce((sum, node) => sum + (this.#evicted.get(node) ?? 0), 0);
  }

  #changed(pod: Pod, old: Pod): void {
    if (pod.metadata.deletionTimestamp === undefined || old.metadata.deletionTimestamp !== undefined) return;
    const evicted = pod.status?.conditions?.some(({ reason }) => reason === 'EvictionByEvictionAPI') ?? false;
    if (!evicted) return;
    const node = pod.spec.nodeName ?? '';
    this.#evicted.set(node, (this.#evicted.get(node) ?? 0) + 1);
    if (this.#deadlines.has(node))
      this.firstEviction = Math.min(this.firstEviction, Number(pod.metadata.resourceVersion));
    const app = pod.metadata.labels?.app ?? '';
    if (!this.#options.apps.includes(app)) return;
    const ready = this.#pods.list().filter((other) => other.metadata.labels?.app === app && isHealthy(other)).length;
    const { wanted } = this.#options;
    if (ready < wanted) this.broken.push(`${app} wants ${wanted} and has ${ready} without ${pod.metadata.name}`);
  }

  #gone({ metadata, spec }: Pod): void {
    const deadline = this.#deadlines.get(spec.nodeName ?? '');
    if (deadline !== undefined && this.#options.clock.now() > deadline) this.late.push(metadata.name ?? '');
  }
}

function isHealthy({ metadata, status }: Pod): boolean {
  return (
    metadata.deletionTimestamp === undefined &&
    (status?.conditions ?? []).some(({ type, status: value }) => type === 'Ready' && value === 'True')
  );
}
