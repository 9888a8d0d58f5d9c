/**
 * Binds pods to the node that was launched for them, while it is still cordoned. A plan fills each node with a certain mix of pods. The
 * scheduler does not know the plan, and with another mix some pods would find no room and need one more node.
 */
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import type { Node } from '../../../apis/kubernetes/node.ts';
import { keyOf } from '../../../apis/kubernetes/object.ts';
import { PODS, type Pod } from '../../../apis/kubernetes/pod.ts';
import { resourceAmounts } from '../../../apis/kubernetes/pod-requests.ts';
import { TAINT_UNSCHEDULABLE, untoleratedTaint } from '../../../apis/kubernetes/taints.ts';
import { asError, hasCode } from '../../../platform/errors.ts';
import { fitting, freeRoom } from '../../../state/build-problem.ts';
import { daemonsToCome } from '../../../state/daemons-to-come.ts';
import { resources } from '../../../state/pod-group.ts';
import { mayBind } from '../../../state/steerable.ts';
import type { ControllersOptions } from '../../controllers-options.ts';
import { hasUnregisteredTaint } from './decide-registration.ts';

/** After this long, all watchers have seen a write. */
export const HEARD_MS = 1000;
/** After this long, the wait is shown in the claim's conditions. */
const SLOW_MS = 10_000;

export class Binder {
  readonly #options: ControllersOptions;
  /** By node, the pods that are bound but that the cache does not show there yet, by UID. */
  readonly #unheard = new Map<string, Map<string, Pod>>();
  /** By node, when it was registered. */
  readonly #registered = new Map<string, number>();
  /** By node, since when we wait for the cache. */
  readonly #waitingSince = new Map<string, number>();
  /** By node, when the latest pod was bound to it. */
  readonly #latest = new Map<string, number>();

  constructor(options: ControllersOptions) {
    this.#options = options;
  }

  /**
   * Records that the node was registered, which removes its NoExecute taint. A taint manager that has not seen this yet would evict a pod
   * that is bound at once.
   */
  registered(node: string): void {
    this.#registered.set(node, this.#options.clock.elapsed());
  }

  /**
   * Binds the pods that the node has room for. Returns whether all watchers have seen all bindings: until then the scheduler would give
   * their room away. Rejects if it is not known whether a pod is bound; the node then stays cordoned.
   */
  async bind(claim: NodeClaim, node: Node, pods: readonly Pod[], signal: AbortSignal): Promise<boolean> {
    const { name = '' } = node.metadata;
    if (!this.#waitingSince.has(name)) this.#waitingSince.set(name, this.#options.clock.elapsed());
    const heard = this.#mayBePutOn(name) && (await this.#bindAll(claim, node, pods, signal));
    if (heard) this.#waitingSince.delete(name);
    return heard;
  }

  /** Whether all watchers have seen that the node is registered. */
  #mayBePutOn(name: string): boolean {
    const { state, clock } = this.#options;
    const shown = state.informers.nodes.get(name);
    if (shown !== undefined && hasUnregisteredTaint(shown)) this.registered(name);
    return clock.elapsed() - (this.#registered.get(name) ?? Number.NEGATIVE_INFINITY) >= HEARD_MS;
  }

  async #bindAll(claim: NodeClaim, node: Node, pods: readonly Pod[], signal: AbortSignal): Promise<boolean> {
    const { state, clock } = this.#options;
    const { name = '' } = node.metadata;
    const allocatable = resources(resourceAmounts(node.status?.allocatable));
    const there = state.podsOn(name);
    const unheard = this.#stillUnheard(name, there);
    const all = [...there, ...unheard.values()];
    const coming = daemonsToCome({ name, node, claim }, all, state.daemonSets());
    const free = freeRoom(allocatable, all, coming);
    const own = pods.filter((pod) => !unheard.has(uidOf(pod)) && mayBind(pod) && isTolerated(node, pod));
    const outcomes = await Promise.allSettled(
      fitting(free, own).map(async (pod) => {
        const bound = await this.#bind(pod, name, signal);
        if (!bound) return;
        unheard.set(uidOf(pod), pod);
        this.#latest.set(name, clock.elapsed());
      }),
    );
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    const latest = this.#latest.get(name);
    return unheard.size === 0 && (latest === undefined || clock.elapsed() - latest >= HEARD_MS);
  }

  /** The bound pods that the cache does not show on the node yet, and that still exist. */
  #stillUnheard(node: string, there: readonly Pod[]): Map<string, Pod> {
    const { pods } = this.#options.state.informers;
    const unheard = this.#unheard.get(node) ?? new Map<string, Pod>();
    for (const pod of there) unheard.delete(uidOf(pod));
    for (const [uid, pod] of unheard) {
      const now = pods.get(keyOf(pod));
      if (now?.metadata.uid !== uid || now.spec.nodeName) unheard.delete(uid);
    }
    this.#unheard.set(node, unheard);
    return unheard;
  }

  /** Whether the wait takes unusually long. */
  isSlow(node: string): boolean {
    const since = this.#waitingSince.get(node);
    return since !== undefined && this.#options.clock.elapsed() - since >= SLOW_MS;
  }

  /** Forgets a deleted node. */
  forget(node: string): void {
    this.#registered.delete(node);
    this.#waitingSince.delete(node);
    this.#unheard.delete(node);
    this.#latest.delete(node);
  }

  /** Whether the pod has a node now. */
  async #bind(pod: Pod, node: string, signal: AbortSignal): Promise<boolean> {
    const { client, logger } = this.#options;
    try {
      await client.bind(keyOf(pod), node, { signal });
      return true;
    } catch (error) {
      if (hasCode(error, 'KUBE_NOT_FOUND')) return false;
      // It may have a node already: ours, if an earlier response was lost, or one that the scheduler chose.
      if (hasCode(error, 'KUBE_CONFLICT') && (await this.#hasNode(pod, signal))) return true;
      if (!hasCode(error, 'KUBE_FORBIDDEN', 'KUBE_INVALID')) throw error;
      const { namespace, name } = pod.metadata;
      logger.warn('pod is left to the scheduler', { Pod: { namespace, name }, node, error: asError(error) });
      return false;
    }
  }

  async #hasNode(pod: Pod, signal: AbortSignal): Promise<boolean> {
    const { spec } = await this.#options.client.get(PODS, keyOf(pod), { signal });
    return spec.nodeName !== undefined && spec.nodeName !== '';
  }
}

/** Whether the pod tolerates the node once it is uncordoned. */
function isTolerated({ spec }: Node, pod: Pod): boolean {
  const taints = (spec?.taints ?? []).filter(({ key }) => key !== TAINT_UNSCHEDULABLE);
  return untoleratedTaint(taints, pod.spec.tolerations ?? [], ['NoSchedule', 'NoExecute']) === undefined;
}

function uidOf({ metadata }: Pod): string {
  return metadata.uid ?? '';
}
