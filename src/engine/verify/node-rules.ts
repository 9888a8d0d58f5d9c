/** Rules for each node by itself, as kube-scheduler filters nodes. */
import type { HostPort, PodGroup, Resources } from '../problem.ts';
import { untolerated } from './label-rules.ts';
import { meets, type PlannedNode } from './planned-node.ts';
import type { Report } from './violation.ts';

/** Checks all pods that the plan puts on a node. */
export function checkNode(node: PlannedNode, pods: readonly PodGroup[], report: Report): void {
  for (const pod of new Set(pods)) {
    for (const taint of untolerated(node.taints, pod.tolerations)) {
      report('taints', node.name, `${pod.name} does not tolerate ${taint.key}=${taint.value ?? ''}:${taint.effect}`);
    }
    if (!meets(node, pod.requirements)) {
      report('requirements', node.name, `none of the node affinity alternatives of ${pod.name} holds`);
    }
    if (!meets(node, pod.volumeRequirements)) {
      report('volume-zone', node.name, `the volumes of ${pod.name} cannot be reached`);
    }
  }
  checkSums(node, pods, report);
  checkPorts(node, pods, report);
}

function checkSums(node: PlannedNode, pods: readonly PodGroup[], report: Report): void {
  const requested = totalRequests(pods);
  for (const [resource, amount] of Object.entries({ ...requested, pods: pods.length })) {
    const room = node.room[resource] ?? 0;
    if (amount > 0 && amount > room) {
      report('resources', node.name, `${resource}: ${amount} requested, ${room} allocatable`);
    }
  }
  for (const [driver, limit] of Object.entries(node.attachmentRoom)) {
    const attached = pods.reduce((sum, pod) => sum + (pod.volumeAttachments?.[driver] ?? 0), 0);
    if (attached > 0 && attached > limit) {
      report('volume-attachments', node.name, `${driver}: ${attached} attached, ${limit} possible`);
    }
  }
}

/** The sum of the requests of pods, without the unit of `pods` that each takes. */
export function totalRequests(pods: readonly PodGroup[]): Resources {
  const sums: Record<string, number> = {};
  for (const pod of pods) {
    for (const [resource, amount] of Object.entries(pod.requests)) sums[resource] = (sums[resource] ?? 0) + amount;
  }
  return sums;
}

function checkPorts(node: PlannedNode, pods: readonly PodGroup[], report: Report): void {
  const taken: HostPort[] = [...node.usedHostPorts];
  for (const pod of pods) {
    for (const port of pod.hostPorts ?? []) {
      if (taken.some((other) => portsClash(port, other))) {
        report('host-ports', node.name, `${pod.name} wants port ${port.port}, which is taken`);
      }
    }
    taken.push(...(pod.hostPorts ?? []));
  }
}

/** Two ports clash on one node if number and protocol are equal, unless both have addresses that differ. */
export function portsClash(one: HostPort, other: HostPort): boolean {
  const everywhere = (port: HostPort) => port.hostIP === undefined || port.hostIP === '' || port.hostIP === '0.0.0.0';
  return (
    one.port === other.port &&
    (one.protocol ?? 'TCP') === (other.protocol ?? 'TCP') &&
    (everywhere(one) || everywhere(other) || one.hostIP === other.hostIP)
  );
}
