/** Which nodes may be disrupted, and what keeps the others. Pure. */
import { isTrue } from '../../apis/karpenter/conditions.ts';
import { ANNOTATION_DO_NOT_DISRUPT } from '../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import type { Node } from '../../apis/kubernetes/node.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { isReschedulable } from '../../state/cluster-state.ts';
import { isGoing, poolOf, type StateNode } from '../../state/state-node.ts';

/** A node that can go, with all that goes with it. */
export interface Candidate {
  readonly state: StateNode;
  readonly node: Node;
  readonly claim: NodeClaim;
  readonly pool: NodePool;
  /** Those that will need another place. */
  readonly pods: readonly Pod[];
}

/** Why a node that would go has to stay. */
export interface Refusal {
  readonly refused: StateNode;
  readonly why: string;
}

/**
 * How a disruption treats pods that are not to be disrupted: it waits for them, or, where the claim has a
 * terminationGracePeriod, counts on their leaving by its end.
 */
export type DisruptionClass = 'graceful' | 'eventual';

/** What a node is judged by. */
export interface CandidateContext {
  readonly poolNamed: ReadonlyMap<string, NodePool>;
  /** Pods bound to a node that have not ended. */
  podsOn(node: string): readonly Pod[];
  /** Whether pods are to come to the node. */
  isNominated(state: StateNode): boolean;
  /** Whether the claim could not be marked a while ago. */
  isStuck(claim: NodeClaim): boolean;
  /** Why a pod may not be evicted; undefined when it may. */
  podBlocker(pod: Pod): string | undefined;
}

/** The node as a candidate, or why it is none; undefined for one that is not ours, not up, or going already. */
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
  if (context.isStuck(claim)) return refused('a while ago it could not be marked as going');
  if (context.isNominated(state)) return refused('pods are about to come to it');
  if (disruption === 'eventual' && claim.spec.terminationGracePeriod !== undefined) return candidate;
  const blocker = podsBlocker(context.podsOn(state.name), context);
  return blocker === undefined ? candidate : refused(blocker);
}

/** The node with its pool and pods, whatever keeps it. */
export function withPods(
  state: StateNode,
  context: Pick<CandidateContext, 'poolNamed' | 'podsOn'>,
): Candidate | Refusal | undefined {
  const { node, claim } = state;
  const name = poolOf(state);
  if (node === undefined || claim === undefined) return undefined;
  const pool = name === undefined ? undefined : context.poolNamed.get(name);
  if (pool === undefined) return { refused: state, why: `its pool ${name ?? ''} does not exist` };
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
