/**
 * Whether any pod in the cluster is pending. The scheduler may bind any pod to any node with room, so a node cannot be known to have all
 * of its pods while a pod is pending anywhere.
 */
import type { Pod } from '../apis/kubernetes/pod.ts';
import type { Informer } from '../kube/informer.ts';
import type { Clock } from '../platform/clock.ts';
import { hasEnded } from './has-ended.ts';

export interface WaitingPodsOptions {
  readonly clock: Clock;
  readonly pods: Pick<Informer<Pod>, 'addHandler'>;
}

export class WaitingPods {
  readonly #clock: Clock;
  /** UIDs of pending pods. */
  readonly #waiting = new Set<string>();
  /** When a pod was last pending or deleted, by the clock's `elapsed`. */
  #restlessAt: number;

  constructor({ clock, pods }: WaitingPodsOptions) {
    this.#clock = clock;
    this.#restlessAt = clock.elapsed();
    pods.addHandler({
      added: (pod) => this.#seen(pod),
      updated: (pod) => this.#seen(pod),
      deleted: ({ metadata }) => {
        this.#waiting.delete(metadata.uid ?? '');
        // A replacement may follow, even if the pod had ended: an evicted pod has ended too.
        this.#restlessAt = clock.elapsed();
      },
    });
  }

  /** How long no pod has been pending or deleted. */
  get quietMs(): number {
    return this.#waiting.size > 0 ? 0 : this.#clock.elapsed() - this.#restlessAt;
  }

  #seen(pod: Pod): void {
    if (isWaiting(pod)) this.#waiting.add(pod.metadata.uid ?? '');
    else if (this.#waiting.delete(pod.metadata.uid ?? '')) this.#restlessAt = this.#clock.elapsed();
  }
}

/** Includes pods with a nominated node; excludes DaemonSet and static pods, and gated pods. */
function isWaiting(pod: Pod): boolean {
  const { metadata, spec } = pod;
  if (spec.nodeName || hasEnded(pod) || metadata.deletionTimestamp !== undefined) return false;
  if ((spec.schedulingGates ?? []).length > 0) return false;
  return !metadata.ownerReferences?.some(({ kind }) => kind === 'DaemonSet' || kind === 'Node');
}
