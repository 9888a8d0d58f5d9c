/** Deletes the claims of a command whose replacements are up. A repair also sets the deadline of the drain. */
import { ANNOTATION_TERMINATION_TIMESTAMP, LABEL_NODE_POOL } from '../../../apis/karpenter/labels.ts';
import { NODE_CLAIMS, type NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import type { Node } from '../../../apis/kubernetes/node.ts';
import type { Pod } from '../../../apis/kubernetes/pod.ts';
import { ANNOTATION_DISRUPTION } from '../../../apis/spindrift/annotations.ts';
import { type EpochMs, toTimestamp } from '../../../platform/clock.ts';
import { BY_PROVIDER_ID } from '../../../state/cluster-informers.ts';
import { isReschedulable } from '../../../state/cluster-state.ts';
import type { ControllersOptions } from '../../controllers-options.ts';
import { deleteClaim } from '../../nodeclaim/delete-claim.ts';
import { NodeClaimMetrics } from '../../nodeclaim/metrics.ts';
import { writtenDeadline } from '../../nodeclaim/termination/termination-deadline.ts';
import { consolidationPolicyLabel } from '../consolidation-policy-label.ts';
import { disruptionTerminating } from '../events.ts';
import { DisruptionMetrics } from '../metrics.ts';
import type { CommandReason } from './command.ts';
import { readMark } from './mark.ts';

export class Departures {
  readonly #options: ControllersOptions;
  readonly #metrics: DisruptionMetrics;
  readonly #claimMetrics: NodeClaimMetrics;

  constructor(options: ControllersOptions) {
    this.#options = options;
    this.#metrics = new DisruptionMetrics(options.metrics);
    this.#claimMetrics = new NodeClaimMetrics(options.metrics);
  }

  /** Deletes the claim, which drains its node. */
  async begin(claim: NodeClaim, reason: CommandReason, signal: AbortSignal): Promise<void> {
    const { client, recorder, clock } = this.#options;
    const { repair } = readMark(claim.metadata.annotations?.[ANNOTATION_DISRUPTION]) ?? {};
    const pods = this.podsOf(claim).length;
    if (repair?.graceMs !== undefined) await this.#limit(claim, clock.now() + repair.graceMs, signal);
    await deleteClaim(client, claim, signal);
    for (const node of this.nodesOf(claim)) recorder.record(disruptionTerminating(node, reason));
    recorder.record(disruptionTerminating(claim, reason));
    const policy = this.#policyOf(claim, reason);
    this.#claimMetrics.disrupted(claim, reason.toLowerCase() as Lowercase<CommandReason>, policy);
    if (repair !== undefined) this.#metrics.repaired(claim, repair.condition);
    this.#metrics.podsLeave(claim, pods, reason, policy);
  }

  nodesOf({ status }: NodeClaim): readonly Node[] {
    return this.#options.state.informers.nodes.byIndex(BY_PROVIDER_ID, status?.providerID ?? '');
  }

  /** The pods of the claim's node that will be recreated elsewhere. */
  podsOf(claim: NodeClaim): Pod[] {
    const { state } = this.#options;
    return this.nodesOf(claim).flatMap(({ metadata }) => state.podsOn(metadata.name ?? '').filter(isReschedulable));
  }

  /** Sets the deadline of the drain, unless an earlier one is set. */
  async #limit(claim: NodeClaim, by: number, signal: AbortSignal): Promise<void> {
    if ((writtenDeadline(claim) ?? Number.POSITIVE_INFINITY) <= by) return;
    const annotations = { [ANNOTATION_TERMINATION_TIMESTAMP]: toTimestamp(by as EpochMs) };
    await this.#options.writes.patch(NODE_CLAIMS, claim, { metadata: { annotations } }, { signal });
  }

  /** The consolidation policy as a metric label; empty for other reasons. */
  #policyOf({ metadata }: NodeClaim, reason: CommandReason): string {
    if (reason !== 'Empty' && reason !== 'Underutilized') return '';
    const pool = this.#options.state.informers.nodePools.get(metadata.labels?.[LABEL_NODE_POOL] ?? '');
    return consolidationPolicyLabel(pool?.spec.disruption.consolidationPolicy ?? '');
  }
}
