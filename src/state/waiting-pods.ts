/**
 * Whether any pod is on its way to a node. The scheduler may send every pod to every node with room, so that nobody can say of one
 * node that all have come to it while somewhere a pod is without one.
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
  /** UIDs of those without a node. */
  readonly #waiting = new Set<string>();
  /** When a pod last waited, or went, by the clock's `elapsed`. */
  #restlessAt: number;

  constructor({ clock, pods }: WaitingPodsOptions) {
    this.#clock = clock;
    this.#restlessAt = clock.elapsed();
    pods.addHandler({
      added: (pod) => this.#seen(pod),
      updated: (pod) => this.#seen(pod),
      deleted: ({ metadata }) => {
        this.#waiting.delete(metadata.uid ?? '');
        // Another may come in its place. Whether it had ended says nothing: so has one that was told to leave.
        this.#restlessAt = clock.elapsed();
      },
    });
  }

  /** For how long no pod has been without a node, and none has gone. */
  get quietMs(): number {
    return this.#waiting.size > 0 ? 0 : this.#clock.elapsed() - this.#restlessAt;
  }

  #seen(pod: Pod): void {
    if (isWaiting(pod)) this.#waiting.add(pod.metadata.uid ?? '');
    else if (this.#waiting.delete(pod.metadata.uid ?? '')) this.#restlessAt = this.#clock.elapsed();
  }
}

/** Also one that the scheduler has a node for already, but not one that may come to the node of its own alone, or to none yet. */
function isWaiting(pod: Pod): boolean {
  const { metadata, spec } = pod;
  if (spec.nodeName || hasEnded(pod) || metadata.deletionTimestamp !== undefined) return false;
  if ((spec.schedulingGates ?? []).length > 0) return false;
  return !metadata.ownerReferences?.some(({ kind }) => kind === 'DaemonSet' || kind === 'Node');
}
