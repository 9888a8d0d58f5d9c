/** Disruption metrics, with Karpenter's names and labels. */
import { LABEL_CAPACITY_TYPE, LABEL_NODE_POOL } from '../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { terminationMode } from '../nodeclaim/metrics.ts';
import { type Command, type CommandReason, decisionOf } from './commands/command.ts';

export class DisruptionMetrics {
  readonly #evaluation;
  readonly #decisions;
  readonly #decisionsByPool;
  readonly #eligible;
  readonly #failedValidations;
  readonly #failures;
  readonly #podsInitiated;
  readonly #repaired;

  constructor(metrics: Metrics) {
    const decided = ['decision', 'reason', 'consolidation_type'] as const;
    this.#evaluation = metrics.histogram({
      name: 'karpenter_voluntary_disruption_decision_evaluation_duration_seconds',
      help: 'Time to decide which nodes to disrupt, in seconds, per reason and consolidation type',
      labels: ['reason', 'consolidation_type'],
    });
    this.#decisions = metrics.counter({
      name: 'karpenter_voluntary_disruption_decisions_total',
      help: 'Disruption commands begun, per decision, reason and consolidation type',
      labels: decided,
    });
    this.#decisionsByPool = metrics.counter({
      name: 'karpenter_voluntary_disruption_decisions_by_nodepool_total',
      help: 'Disruption commands begun, per NodePool, decision, reason and consolidation type',
      labels: ['nodepool', ...decided],
    });
    this.#eligible = metrics.gauge({
      name: 'karpenter_voluntary_disruption_eligible_nodes',
      help: 'Nodes eligible for disruption, before budgets and room for their pods are checked, per reason',
      labels: ['reason'],
    });
    this.#failedValidations = metrics.counter({
      name: 'karpenter_voluntary_disruption_failed_validations_total',
      help: 'Disruption commands dropped because the cluster had changed since they were planned, per consolidation type',
      labels: ['consolidation_type'],
    });
    this.#failures = metrics.counter({
      name: 'karpenter_voluntary_disruption_queue_failures_total',
      help: 'Disruption commands undone after they had begun, per decision, reason and consolidation type',
      labels: decided,
    });
    this.#podsInitiated = metrics.counter({
      name: 'karpenter_pods_disruption_initiated_total',
      help: 'Pods on nodes whose NodeClaim a disruption deleted, per reason, NodePool, capacity type, consolidation policy and termination mode',
      labels: ['reason', 'nodepool', 'capacity_type', 'consolidation_policy', 'termination_mode'],
    });
    this.#repaired = metrics.counter({
      name: 'karpenter_nodeclaims_unhealthy_disrupted_total',
      help: 'NodeClaims replaced because their node was unhealthy, per condition, NodePool, capacity type, image and termination mode',
      labels: ['condition', 'nodepool', 'capacity_type', 'image_id', 'termination_mode'],
    });
  }

  repaired(claim: NodeClaim, condition: string): void {
    const { labels = {} } = claim.metadata;
    this.#repaired.add({
      condition,
      nodepool: labels[LABEL_NODE_POOL] ?? '',
      capacity_type: labels[LABEL_CAPACITY_TYPE] ?? '',
      image_id: claim.status?.imageID ?? '',
      termination_mode: terminationMode(claim),
    });
  }

  evaluated(reason: CommandReason, seconds: number): void {
    this.#evaluation.observe({ reason: reason.toLowerCase(), consolidation_type: kindOf(reason) }, seconds);
  }

  eligible(reason: CommandReason, nodes: number): void {
    this.#eligible.set({ reason: reason.toLowerCase() }, nodes);
  }

  began(command: Command): void {
    const { reason, candidates } = command;
    const labels = labelsOf(decisionOf(command), reason);
    this.#decisions.add(labels);
    const pools = new Set(candidates.map(({ pool }) => pool.metadata.name ?? ''));
    for (const nodepool of pools) this.#decisionsByPool.add({ nodepool, ...labels });
  }

  dropped({ reason }: Command): void {
    this.#failedValidations.add({ consolidation_type: kindOf(reason) });
  }

  undone(decision: 'delete' | 'replace', reason: CommandReason): void {
    this.#failures.add(labelsOf(decision, reason));
  }

  podsLeave(claim: NodeClaim, pods: number, reason: CommandReason, policy: string): void {
    if (pods === 0) return;
    const { labels = {} } = claim.metadata;
    this.#podsInitiated.add(
      {
        reason: reason.toLowerCase(),
        nodepool: labels[LABEL_NODE_POOL] ?? '',
        capacity_type: labels[LABEL_CAPACITY_TYPE] ?? '',
        consolidation_policy: policy,
        termination_mode: terminationMode(claim),
      },
      pods,
    );
  }
}

function labelsOf(decision: 'delete' | 'replace', reason: CommandReason) {
  return { decision, reason: reason.toLowerCase(), consolidation_type: kindOf(reason) };
}

/** One plan finds all consolidation moves, so there is no `single`. */
function kindOf(reason: CommandReason): string {
  if (reason === 'Empty') return 'empty';
  return reason === 'Underutilized' ? 'multi' : '';
}
