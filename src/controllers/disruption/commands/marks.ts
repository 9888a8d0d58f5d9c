/** Marks claims and taints their nodes for a command, and undoes that. Every step is skipped where it is done already. */
import { isTrue, withoutCondition } from '../../../apis/karpenter/conditions.ts';
import { ANNOTATION_TERMINATION_TIMESTAMP, TAINT_DISRUPTED } from '../../../apis/karpenter/labels.ts';
import { NODE_CLAIMS, type NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import { NODES, type Node } from '../../../apis/kubernetes/node.ts';
import { ANNOTATION_DISRUPTION, ANNOTATION_INTERRUPTION } from '../../../apis/spindrift/annotations.ts';
import { asError, hasCode } from '../../../platform/errors.ts';
import { BY_PROVIDER_ID } from '../../../state/cluster-informers.ts';
import type { ControllersOptions } from '../../controllers-options.ts';
import { writeClaimConditions } from '../../nodeclaim/write-claim-conditions.ts';
import { type Mark, readMark, writeMark } from './mark.ts';
import type { StepFailure } from './stuck-claims.ts';

const DISRUPTION_REASON = 'DisruptionReason';

export class Marks {
  readonly #options: Pick<ControllersOptions, 'writes' | 'clock' | 'state'>;

  constructor(options: Pick<ControllersOptions, 'writes' | 'clock' | 'state'>) {
    this.#options = options;
  }

  /** Writes one mark per claim. Returns the failures. */
  async putAll(marks: ReadonlyMap<NodeClaim, Mark>, signal: AbortSignal): Promise<readonly StepFailure[]> {
    const claims = [...marks.keys()];
    const results = await Promise.allSettled([...marks].map(([claim, mark]) => this.#put(claim, mark, signal)));
    return results.flatMap((result, index) => {
      // A claim or node that no longer exists needs no mark.
      if (result.status === 'fulfilled' || hasCode(result.reason, 'KUBE_NOT_FOUND')) return [];
      return [{ claim: claims[index] as NodeClaim, error: asError(result.reason) }];
    });
  }

  /** The mark is written before the taint: a taint without a mark is stale. */
  async #put(claim: NodeClaim, mark: Mark, signal: AbortSignal): Promise<void> {
    const { writes } = this.#options;
    const text = writeMark(mark);
    const annotations = { [ANNOTATION_DISRUPTION]: text };
    const marked =
      claim.metadata.annotations?.[ANNOTATION_DISRUPTION] === text
        ? claim
        : await writes.patch(NODE_CLAIMS, claim, { metadata: { annotations } }, { signal });
    for (const node of this.#nodesOf(claim)) await this.#taint(node, signal);
    const change = { type: DISRUPTION_REASON, status: 'True', reason: mark.reason } as const;
    await writeClaimConditions(this.#options, marked, [change], signal);
  }

  /** The mark is removed last, so that a half-undone command is found again. */
  async remove(claim: NodeClaim, signal: AbortSignal): Promise<void> {
    const { writes } = this.#options;
    const { annotations = {} } = claim.metadata;
    // An interrupted machine leaves anyway: its taint stays.
    if (annotations[ANNOTATION_INTERRUPTION] === undefined)
      for (const node of this.#nodesOf(claim)) await this.untaint(node, signal);
    const silent = await this.#removeDisruptionReason(claim, signal);
    if (annotations[ANNOTATION_DISRUPTION] === undefined) return;
    const { repair } = readMark(annotations[ANNOTATION_DISRUPTION]) ?? {};
    // A deadline that the repair has set must not apply to a node that stays.
    const deadline = repair?.graceMs === undefined ? {} : { [ANNOTATION_TERMINATION_TIMESTAMP]: null };
    const body = { metadata: { annotations: { [ANNOTATION_DISRUPTION]: null, ...deadline } } };
    await writes.patch(NODE_CLAIMS, silent, body, { signal });
  }

  /** Removes the condition DisruptionReason. */
  async #removeDisruptionReason(claim: NodeClaim, signal: AbortSignal): Promise<NodeClaim> {
    if (!isTrue(claim, DISRUPTION_REASON)) return claim;
    const conditions = withoutCondition(claim, DISRUPTION_REASON);
    const options = { signal, subresource: 'status' } as const;
    return this.#options.writes.patch(NODE_CLAIMS, claim, { status: { conditions } }, options);
  }

  /** Removes the disruption taint, unless the node is deleted. */
  async untaint(node: Node, signal: AbortSignal): Promise<void> {
    const { taints = [] } = node.spec ?? {};
    if (node.metadata.deletionTimestamp !== undefined || !isTainted(node)) return;
    const left = taints.filter(({ key }) => key !== TAINT_DISRUPTED.key);
    await this.#options.writes.patch(NODES, node, { spec: { taints: left } }, { signal });
  }

  async #taint(node: Node, signal: AbortSignal): Promise<void> {
    if (isTainted(node)) return;
    const taints = [...(node.spec?.taints ?? []), TAINT_DISRUPTED];
    await this.#options.writes.patch(NODES, node, { spec: { taints } }, { signal });
  }

  #nodesOf({ status }: NodeClaim): Node[] {
    const { writes, state } = this.#options;
    return state.informers.nodes.byIndex(BY_PROVIDER_ID, status?.providerID ?? '').map((node) => writes.newest(node));
  }
}

/** Whether the node has the disruption taint. */
export function isTainted({ spec }: Node): boolean {
  return (spec?.taints ?? []).some(({ key }) => key === TAINT_DISRUPTED.key);
}

/** Whether the claim has the condition DisruptionReason. */
export function hasDisruptionReason(claim: NodeClaim): boolean {
  return isTrue(claim, DISRUPTION_REASON);
}
