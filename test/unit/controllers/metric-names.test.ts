/** The metrics that dashboards and alerts of Karpenter are written on: each is there, or the documentation says that it is not. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { FleetWorld } from './testkit/fleet-world.ts';

const PREFIXES: Readonly<Record<string, readonly string[]>> = {
  karpenter: ['build_info'],
  karpenter_consolidation: ['score', 'moves_total'],
  karpenter_nodeclaims: [
    'created_total',
    'terminated_total',
    'disrupted_total',
    'unhealthy_disrupted_total',
    'termination_duration_seconds',
    'instance_termination_duration_seconds',
  ],
  karpenter_nodes: [
    'allocatable',
    'total_pod_requests',
    'total_pod_limits',
    'total_daemon_requests',
    'total_daemon_limits',
    'system_overhead',
    'current_lifetime_seconds',
    'created_total',
    'terminated_total',
    'drained_total',
    'termination_duration_seconds',
    'lifetime_duration_seconds',
    'reboots_total',
    'reboot_duration_seconds',
    'reboot_recovery_duration_seconds',
  ],
  karpenter_pods: [
    'state',
    'startup_duration_seconds',
    'bound_duration_seconds',
    'unstarted_time_seconds',
    'unbound_time_seconds',
    'provisioning_bound_duration_seconds',
    'provisioning_startup_duration_seconds',
    'provisioning_unbound_time_seconds',
    'provisioning_unstarted_time_seconds',
    'provisioning_scheduling_undecided_time_seconds',
    'scheduling_decision_duration_seconds',
    'eviction_requests_total',
    'drained_total',
    'disruption_initiated_total',
  ],
  karpenter_pod_deletion_cost: ['nodes_with_pending_annotation_writes', 'pod_annotation_writes_total'],
  karpenter_voluntary_disruption: [
    'decision_evaluation_duration_seconds',
    'decisions_total',
    'decisions_by_nodepool_total',
    'eligible_nodes',
    'consolidation_timeouts_total',
    'failed_validations_total',
    'queue_failures_total',
    'terminate_first_decisions_total',
  ],
  karpenter_scheduler: [
    'scheduling_duration_seconds',
    'queue_depth',
    'unfinished_work_seconds',
    'ignored_pods_count',
    'unschedulable_pods_count',
    'pending_pods_by_effective_zone_count',
  ],
  karpenter_nodepools: [
    'limit',
    'usage',
    'allowed_disruptions',
    'nodes_consuming_budgets',
    'cost_total',
    'cost_tracker_errors_total',
  ],
  karpenter_cluster: ['utilization_percent'],
  karpenter_cluster_state: ['node_count', 'synced', 'unsynced_time_seconds'],
  karpenter_cloudprovider: [
    'duration_seconds',
    'errors_total',
    'instance_type_offering_available',
    'instance_type_offering_price_estimate',
    'instance_type_cpu_cores',
    'instance_type_memory_bytes',
    'instance_launch_failures_total',
    'instance_termination_failures_total',
    'batcher_batch_time_seconds',
    'batcher_batch_size',
  ],
  karpenter_interruption: [
    'received_messages_total',
    'deleted_messages_total',
    'message_queue_duration_seconds',
    'instance_status_unhealthy_total',
  ],
  operator_nodeclaim: [
    'status_condition_transitions_total',
    'status_condition_transition_seconds',
    'status_condition_current_status_seconds',
    'status_condition_count',
    'termination_duration_seconds',
    'termination_current_time_seconds',
  ],
  controller_runtime: ['reconcile_total', 'reconcile_errors_total', 'reconcile_time_seconds'],
  workqueue: ['depth', 'adds_total', 'retries_total', 'queue_duration_seconds', 'work_duration_seconds'],
};

const NAMES = Object.entries(PREFIXES).flatMap(([prefix, names]) => names.map((name) => `${prefix}_${name}`));

describe('the metrics', () => {
  it('have the names of Karpenter, but for those that docs/differences.md lists', async () => {
    const world = await FleetWorld.start();
    const text = await world.metrics.text();
    await world.end();
    const there = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name as string));
    const documentation = readFileSync(new URL('../../../docs/differences.md', import.meta.url), 'utf8');
    const section = documentation.split('## Metrics that are not there')[1]?.split('\n## ')[0] ?? '';
    const listed = new Set([...section.matchAll(/`([a-z_]+)`/g)].map(([, name]) => name as string));
    expect(NAMES.filter((name) => !there.has(name)).sort()).toEqual([...listed].sort());
  });
});
