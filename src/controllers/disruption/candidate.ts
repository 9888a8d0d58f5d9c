/** Decides whether a node may be disrupted, and why not. Pure. */
import { isTrue } from '../../apis/karpenter/conditions.ts';
import { ANNOTATION_DO_NOT_DISRUPT } from '../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import type { Node } from '../../apis/kubernetes/node.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { isReschedulable } from '../../state/cluster-state.ts';
import { isGoing, poolOf, type StateNode } from '../../state/state-node.ts';

/** A node that may be disrupted, with its claim, pool and pods. */
export interface Candidate {
  readonly state: StateNode;
  readonly node: Node;
  readonly claim: NodeClaim;
  readonly pool: NodePool;
  /** The pods that will be recreated elsewhere. */
  readonly pods: readonly Pod[];
}

/** Why a node that is due for disruption may not be disrupted now. */
export interface Refusal {
  readonly refused: StateNode;
  readonly why: string;
}

/**
 * How a disruption treats pods that may not be evicted. A graceful one waits for them. An eventual one goes on where the claim has a
 * terminationGracePeriod, which ends their stay.
 */
export type DisruptionClass = 'graceful' | 'eventual';

/** What the decision about a node needs to know. */
export interface CandidateContext {
  readonly poolNamed: ReadonlyMap<string, NodePool>;
  /** Pods bound to a node that have not ended. */
  podsOn(node: string): readonly Pod[];
  /** Whether pods are about to be scheduled to the node. */
  isNominated(state: StateNode): boolean;
  /** Whether a recent attempt to mark or delete the claim failed. */
  isStuck(claim: NodeClaim): boolean;
  /** Why a pod may not be evicted; undefined if it may. */
  podBlocker(pod: Pod): string | undefined;
}

/** The node as a candidate, or why it is none. Undefined for a node that is not managed, not initialized, or already leaving. */
export function candidateOf(
  state: StateNode,
  disruption: DisruptionClass,
  context: CandidateContext,
): Candidate | Refusal | undefined {
  const { node, claim } = state;
  if (node === undefined || claim === undefined || isGoing(state)) return undefined;
  if (!isTrue(claim, 'Initialized') || isTrue(claim, 'Rebooting')) return undefined;
  const candidate = withPods(state, context);
  if (candidate === undefined || 'why' in candidate) return candidate;
  const refused = (why: string): Refusal => ({ refused: state, why });
  if ([node, claim].some(({ metadata }) => metadata.annotations?.[ANNOTATION_DO_NOT_DISRUPT] === 'true'))
    return refused(`it has the annotation ${ANNOTATION_DO_NOT_DISRUPT}`);
  if (context.isStuck(claim)) return refused('it could not be marked for disruption a while ago');
  if (context.isNominated(state)) return refused('pods are about to be scheduled to it');
  if (disruption === 'eventual' && claim.spec.terminationGracePeriod !== undefined) return candidate;
  const blocker = podsBlocker(context.podsOn(state.name), context);
  return blocker === undefined ? candidate : refused(blocker);
}

/** The node with its pool and pods, without asking whether it may be disrupted. */
export function withPods(
  state: StateNode,
  context: Pick<CandidateContext, 'poolNamed' | 'podsOn'>,
): Candidate | Refusal | undefined {
  const { node, claim } = state;
  const name = poolOf(state);
  if (node === undefined || claim === undefined) return undefined;
  const pool = name === undefined ? undefined : context.poolNamed.get(name);
  if (pool === undefined) return { refused: state, why: `its NodePool ${name ?? ''} does not exist` };
  return { state, node, claim, pool, pods: context.podsOn(state.name).filter(isReschedulable) };
}

/** The first reason why one of the pods may not be evicted. */
export function podsBlocker(pods: readonly Pod[], context: Pick<CandidateContext, 'podBlocker'>): string | undefined {
  for (const pod of pods) {
    const blocker = context.podBlocker(pod);
    if (blocker !== undefined) return blocker;
  }
  return undefined;
}
