import { durationMs } from '../../apis/karpenter/duration.ts';
import { LABEL_CAPACITY_TYPE, LABEL_NODE_POOL, LABEL_ZONE } from '../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { Metrics } from '../../platform/metrics.ts';

/** Why the autoscaler deleted a claim. */
export type DisruptedReason =
  | 'insufficient_capacity'
  | 'nodeclass_not_ready'
  | 'launch_timeout'
  | 'registration_timeout'
  | 'initialization_timeout'
  | 'garbage_collected'
  | 'spot_interrupted'
  | 'capacity_reservation_interrupted'
  | 'spot_preempted'
  | 'rebalance_recommendation'
  | 'scheduled_change'
  | 'instance_stopped'
  | 'instance_terminated'
  | 'capacity_reservation_ending'
  | 'empty'
  | 'underutilized'
  | 'drifted'
  | 'expired'
  | 'unhealthy';

const TERMINATION_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096];

/** Metrics of claims, with Karpenter's names and labels. */
export class NodeClaimMetrics {
  readonly #disrupted;
  readonly #terminated;
  readonly #terminationSeconds;
  readonly #instanceTerminationSeconds;

  constructor(metrics: Metrics) {
    this.#disrupted = metrics.counter({
      name: 'karpenter_nodeclaims_disrupted_total',
      help: 'NodeClaims deleted by the autoscaler, per reason, NodePool, capacity type, consolidation policy and termination mode',
      labels: ['reason', 'nodepool', 'capacity_type', 'consolidation_policy', 'termination_mode'],
    });
    this.#terminated = metrics.counter({
      name: 'karpenter_nodeclaims_terminated_total',
      help: 'NodeClaims terminated with their machine, per NodePool, capacity type and zone',
      labels: ['nodepool', 'capacity_type', 'zone'],
    });
    this.#terminationSeconds = metrics.histogram({
      name: 'karpenter_nodeclaims_termination_duration_seconds',
      help: 'From the deletion of a NodeClaim until it was gone, in seconds, per NodePool',
      labels: ['nodepool'],
      buckets: TERMINATION_BUCKETS,
    });
    this.#instanceTerminationSeconds = metrics.histogram({
      name: 'karpenter_nodeclaims_instance_termination_duration_seconds',
      help: 'From the first call to terminate a machine until it was gone, in seconds, per NodePool',
      labels: ['nodepool'],
      buckets: TERMINATION_BUCKETS,
    });
  }

  /** `policy` is the consolidation policy of the pool, if consolidation deleted the claim. */
  disrupted(claim: NodeClaim, reason: DisruptedReason, policy = ''): void {
    const { labels = {} } = claim.metadata;
    this.#disrupted.add({
      reason,
      nodepool: labels[LABEL_NODE_POOL] ?? '',
      capacity_type: labels[LABEL_CAPACITY_TYPE] ?? '',
      consolidation_policy: policy,
      termination_mode: terminationMode(claim),
    });
  }

  terminated(claim: NodeClaim, seconds: number, instanceSeconds: number | undefined): void {
    const { labels = {} } = claim.metadata;
    const nodepool = labels[LABEL_NODE_POOL] ?? '';
    const zone = labels[LABEL_ZONE] ?? '';
    this.#terminated.add({ nodepool, capacity_type: labels[LABEL_CAPACITY_TYPE] ?? '', zone });
    this.#terminationSeconds.observe({ nodepool }, seconds);
    if (instanceSeconds !== undefined) this.#instanceTerminationSeconds.observe({ nodepool }, instanceSeconds);
  }
}

/** The `termination_mode` label: without a grace period, with one, or with one of zero. */
export function terminationMode({ spec }: NodeClaim): 'graceful' | 'eventual' | 'forceful' {
  if (spec.terminationGracePeriod === undefined) return 'graceful';
  return (durationMs(spec.terminationGracePeriod) ?? 0) > 0 ? 'eventual' : 'forceful';
}
