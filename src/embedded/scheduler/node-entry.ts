/** A node and its used resources, as the scheduler sees it. */
import type { Labels } from '../../apis/kubernetes/label-requirement.ts';
import type { Node } from '../../apis/kubernetes/node.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import type { PodClass } from './pod-class.ts';

/** A pod that is placed on a node. */
export interface PlacedPod {
  readonly pod: Pod;
  readonly podClass: PodClass;
  readonly entry: NodeEntry;
}

export interface NodeEntry {
  readonly name: string;
  /** A small index, unique while the node exists, for arrays by node. */
  readonly slot: number;
  /** Undefined if pods are placed on a node that does not exist (yet, or anymore). */
  node: Node | undefined;
  /** Changes whenever the Node object changes; values are never reused. */
  generation: number;
  /** By resource column. */
  allocatable: number[];
  readonly requested: number[];
  assumedCpu: number;
  assumedMemory: number;
  maxPods: number;
  readonly hostPorts: Map<string, number>;
  readonly pods: Map<string, PlacedPod>;
}

const NO_LABELS: Labels = {};

/** The labels of the node. */
export function labelsOf(entry: NodeEntry): Labels {
  return entry.node?.metadata.labels ?? NO_LABELS;
}

/** Adds a pod's requests to the node's usage, or removes them with -1. */
export function take(entry: NodeEntry, podClass: PodClass, sign: 1 | -1): void {
  for (const { column, amount } of podClass.requests) {
    entry.requested[column] = (entry.requested[column] ?? 0) + sign * amount;
  }
  entry.assumedCpu += sign * podClass.assumedCpu;
  entry.assumedMemory += sign * podClass.assumedMemory;
  for (const port of podClass.hostPorts) {
    const count = (entry.hostPorts.get(port) ?? 0) + sign;
    if (count > 0) entry.hostPorts.set(port, count);
    else entry.hostPorts.delete(port);
  }
}
