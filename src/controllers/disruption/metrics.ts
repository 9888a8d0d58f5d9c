/** Counts disruptions; names and labels are Karpenter's. */
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
      help: 'How long it took to see what can be disrupted, in seconds, per reason and kind of consolidation',
      labels: ['reason', 'consolidation_type'],
    });
    this.#decisions = metrics.counter({
      name: 'karpenter_voluntary_disruption_decisions_total',
      help: 'Disruptions begun, per decision, reason and kind of consolidation',
      labels: decided,
    });
    this.#decisionsByPool = metrics.counter({
      name: 'karpenter_voluntary_disruption_decisions_by_nodepool_total',
      help: 'Disruptions begun, per pool, decision, reason and kind of consolidation',
      labels: ['nodepool', ...decided],
    });
    this.#eligible = metrics.gauge({
      name: 'karpenter_voluntary_disruption_eligible_nodes',
      help: 'Nodes that would be disrupted if budgets and places for their pods allowed it, per reason',
      labels: ['reason'],
    });
    this.#failedValidations = metrics.counter({
      name: 'karpenter_voluntary_disruption_failed_validations_total',
      help: 'Plans that had become wrong when they were to begin, per kind of consolidation',
      labels: ['consolidation_type'],
    });
    this.#failures = metrics.counter({
      name: 'karpenter_voluntary_disruption_queue_failures_total',
      help: 'Disruptions undone after they had begun, per decision, reason and kind of consolidation',
      labels: decided,
    });
    this.#podsInitiated = metrics.counter({
      name: 'karpenter_pods_disruption_initiated_total',
      help: 'Pods on nodes that were told to go, per reason, pool, capacity type, consolidation policy and termination mode',
      labels: ['reason', 'nodepool', 'capacity_type', 'consolidation_policy', 'termination_mode'],
    });
    this.#repaired = metrics.counter({
      name: 'karpenter_nodeclaims_unhealthy_disrupted_total',
      help: 'Claims replaced because their node was sick, per condition that told so, pool, capacity type, image and termination mode',
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

/** All moves of consolidation are found together, whatever their size. */
function kindOf(reason: CommandReason): string {
  if (reason === 'Empty') return 'empty';
  return reason === 'Underutilized' ? 'multi' : '';
}
