/** Filters the nodes that a pod can run on, in kube-scheduler's order, so that the first reason is the same. */
import type { Refusal } from './fit-failure.ts';
import { labelsOf, type NodeEntry } from './node-entry.ts';
import { type AffinityState, affinityRefusal, prepareAffinity } from './pod-affinity.ts';
import type { PodClass } from './pod-class.ts';
import type { ClusterSnapshot } from './snapshot.ts';
import { prepareSpread, type SpreadState, spreadRefusal } from './topology-spread.ts';
import type { VolumeDemand } from './volume-index.ts';

/** State that holds for all nodes while one pod is being placed. */
export interface Cycle {
  readonly snapshot: ClusterSnapshot;
  readonly podClass: PodClass;
  readonly volumes: VolumeDemand;
  readonly spread: readonly SpreadState[];
  readonly affinity: AffinityState | undefined;
}

const PORTS_TAKEN: Refusal = {
  reasons: ["node(s) didn't have free ports for the requested pod ports"],
  resolvable: true,
};

/** Reads the cluster state once for a class. */
export function prepareCycle(snapshot: ClusterSnapshot, podClass: PodClass): Cycle {
  return {
    snapshot,
    podClass,
    volumes: snapshot.volumes.demand(podClass.namespace, podClass.claimNames),
    spread: podClass.hardSpread.length === 0 ? [] : prepareSpread(snapshot, podClass, podClass.hardSpread),
    affinity: prepareAffinity(snapshot, podClass),
  };
}

/** Whether the pod can run on the node. */
export function passes(cycle: Cycle, entry: NodeEntry): boolean {
  const { podClass } = cycle;
  if (podClass.verdicts.of(podClass, entry) !== 0) return false;
  if (entry.pods.size >= entry.maxPods) return false;
  for (const { column, amount } of podClass.requests) {
    if (amount > (entry.allocatable[column] ?? 0) - (entry.requested[column] ?? 0)) return false;
  }
  return laterRefusal(cycle, entry) === undefined;
}

/** How many more pods of the class fit on the node, by resources alone. */
export function roomFor(podClass: PodClass, entry: NodeEntry): number {
  let room = entry.maxPods - entry.pods.size;
  for (const { column, amount } of podClass.requests) {
    room = Math.min(room, Math.floor(((entry.allocatable[column] ?? 0) - (entry.requested[column] ?? 0)) / amount));
  }
  return Math.max(0, room);
}

/** Why the pod cannot run on the node. */
export function refusalOf(cycle: Cycle, entry: NodeEntry): Refusal | undefined {
  const { podClass } = cycle;
  const refusal = podClass.verdicts.refusal(podClass, entry);
  if (refusal !== undefined) return refusal;
  if (portsTaken(podClass, entry)) return PORTS_TAKEN;
  return fitRefusal(cycle, entry) ?? laterRefusal(cycle, entry);
}

function laterRefusal(cycle: Cycle, entry: NodeEntry): Refusal | undefined {
  const { podClass, volumes, spread, affinity } = cycle;
  if (podClass.hostPorts.length > 0 && portsTaken(podClass, entry)) return PORTS_TAKEN;
  if ('tests' in volumes) {
    for (const { matcher, refusal } of volumes.tests) {
      if (!matcher.matches(entry.name, labelsOf(entry))) return refusal;
    }
  }
  if (spread.length > 0) {
    const refusal = spreadRefusal(spread, entry);
    if (refusal !== undefined) return refusal;
  }
  return affinity === undefined ? undefined : affinityRefusal(affinity, entry);
}

/** Lists every resource that is insufficient (kube-scheduler NodeResourcesFit). */
function fitRefusal({ snapshot, podClass }: Cycle, entry: NodeEntry): Refusal | undefined {
  const reasons: string[] = [];
  let resolvable = true;
  if (entry.pods.size >= entry.maxPods) reasons.push('Too many pods');
  for (const { column, amount } of podClass.requests) {
    const allocatable = entry.allocatable[column] ?? 0;
    if (amount <= allocatable - (entry.requested[column] ?? 0)) continue;
    reasons.push(`Insufficient ${snapshot.columns.name(column)}`);
    if (amount > allocatable) resolvable = false;
  }
  return reasons.length === 0 ? undefined : { reasons, resolvable };
}

function portsTaken(podClass: PodClass, entry: NodeEntry): boolean {
  if (entry.hostPorts.size === 0) return false;
  return podClass.hostPorts.some((wanted) => {
    const [protocol, address, port] = wanted.split('/');
    for (const taken of entry.hostPorts.keys()) {
      const [otherProtocol, otherAddress, otherPort] = taken.split('/');
      if (protocol !== otherProtocol || port !== otherPort) continue;
      // The wildcard address conflicts with every address.
      if (address === otherAddress || address === '0.0.0.0' || otherAddress === '0.0.0.0') return true;
    }
    return false;
  });
}
