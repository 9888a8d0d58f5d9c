/**
 * Puts pods on the node that was made for them. A plan fills each node with a certain mix of pods; the scheduler, which knows
 * nothing of it, would spread them as it likes, and where the mix comes out another way some pods find no room at all and
 * need one more node. So the plan is carried out as it was made, while the node is still closed to the scheduler.
 */
import { LABEL_HOSTNAME } from '../../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import type { Node } from '../../../apis/kubernetes/node.ts';
import { keyOf } from '../../../apis/kubernetes/object.ts';
import type { Pod, PodSpec } from '../../../apis/kubernetes/pod.ts';
import { resourceAmounts } from '../../../apis/kubernetes/pod-requests.ts';
import { TAINT_UNSCHEDULABLE, untoleratedTaint } from '../../../apis/kubernetes/taints.ts';
import { asError, hasCode } from '../../../platform/errors.ts';
import { fitting, freeRoom } from '../../../state/build-problem.ts';
import { resources } from '../../../state/pod-group.ts';
import type { ControllersOptions } from '../../controllers-options.ts';

const DEFAULT_SCHEDULER = 'default-scheduler';

export class Binder {
  readonly #options: ControllersOptions;

  constructor(options: ControllersOptions) {
    this.#options = options;
  }

  /**
   * Whether all there is to do for the pod is to bind it: no other scheduler's business, no volume or device to prepare, and
   * no rule about pods on other nodes, where something may have changed since the plan.
   */
  mayBind({ spec, metadata }: Pod): boolean {
    if ((spec.schedulerName ?? DEFAULT_SCHEDULER) !== DEFAULT_SCHEDULER) return false;
    if (metadata.deletionTimestamp !== undefined || (spec.schedulingGates ?? []).length > 0) return false;
    if ('resourceClaims' in spec || looksBeyondNode(spec)) return false;
    return !spec.volumes?.some(
      ({ persistentVolumeClaim, ephemeral }) => persistentVolumeClaim !== undefined || ephemeral !== undefined,
    );
  }

  /**
   * Binds those pods that there is room for on the node as it has come, and says how many. Rejects when it is not known of one whether it is
   * bound: while that is so its room must not be given to others, and the node stays closed until all is known.
   */
  async bind(claim: NodeClaim, node: Node, pods: readonly Pod[], signal: AbortSignal): Promise<number> {
    const { state } = this.#options;
    const name = node.metadata.name ?? '';
    const allocatable = resources(resourceAmounts(node.status?.allocatable));
    const there = state.podsOn(name);
    const free = freeRoom({ name, node, claim }, allocatable, there, state.informers.daemonSets.list());
    const own = pods.filter((pod) => this.mayBind(pod) && isTolerated(node, pod));
    const outcomes = await Promise.allSettled(fitting(free, own).map((pod) => this.#bind(pod, name, signal)));
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    return outcomes.filter((outcome) => outcome.status === 'fulfilled' && outcome.value).length;
  }

  /** Whether the pod has a node now. */
  async #bind(pod: Pod, node: string, signal: AbortSignal): Promise<boolean> {
    const { client, logger } = this.#options;
    try {
      await client.bind(keyOf(pod), node, { signal });
      return true;
    } catch (error) {
      if (hasCode(error, 'KUBE_NOT_FOUND')) return false;
      // It has a node already: ours, if an earlier answer was lost, or one that the scheduler found.
      if (hasCode(error, 'KUBE_CONFLICT')) return true;
      if (!hasCode(error, 'KUBE_FORBIDDEN', 'KUBE_INVALID')) throw error;
      const { namespace, name } = pod.metadata;
      logger.warn('pod is left to the scheduler', { Pod: { namespace, name }, node, error: asError(error) });
      return false;
    }
  }
}

/** Whether pods of other nodes can keep this one away. A spread is evened out by those that follow; these rules are not. */
function looksBeyondNode({ affinity }: PodSpec): boolean {
  const { podAffinity, podAntiAffinity } = affinity ?? {};
  return [podAffinity, podAntiAffinity].some((rules) =>
    rules?.requiredDuringSchedulingIgnoredDuringExecution?.some(({ topologyKey }) => topologyKey !== LABEL_HOSTNAME),
  );
}

/** Whether the pod may be there once the node is open. */
function isTolerated({ spec }: Node, pod: Pod): boolean {
  const taints = (spec?.taints ?? []).filter(({ key }) => key !== TAINT_UNSCHEDULABLE);
  return untoleratedTaint(taints, pod.spec.tolerations ?? [], ['NoSchedule', 'NoExecute']) === undefined;
}
