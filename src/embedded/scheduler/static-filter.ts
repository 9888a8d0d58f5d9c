/** Filters that depend on the pod's class and the Node object alone, with cached results per node. */
import type { Node } from '../../apis/kubernetes/node.ts';
import { TAINT_UNSCHEDULABLE, tolerates, untoleratedTaint } from '../../apis/kubernetes/taints.ts';
import type { Refusal } from './fit-failure.ts';
import type { NodeEntry } from './node-entry.ts';
import type { PodClass } from './pod-class.ts';

const refusal = (reason: string): Refusal => ({ reasons: [reason], resolvable: false });

/**
 * In kube-scheduler's order; a verdict is an index into this list. A pod that names its node is never checked: it is on
 * that node already.
 */
const REFUSALS: readonly (Refusal | undefined)[] = [
  undefined,
  refusal('node(s) were unschedulable'),
  refusal('node(s) had untolerated taint(s)'),
  refusal("node(s) didn't match Pod's node affinity/selector"),
  refusal("node(s) didn't satisfy plugin(s) [NodeAffinity]"),
];
const VERDICT_BITS = 7;
const AFFINITY_BIT = 8;
const TAINTS_BIT = 16;

/** Cached results of one class; valid as long as the node's generation is unchanged. */
export class StaticVerdicts {
  #generations = new Int32Array(0);
  #verdicts = new Uint8Array(0);

  /** The number of the verdict; 0 if the node passes. */
  of(podClass: PodClass, entry: NodeEntry): number {
    return this.#look(podClass, entry) & VERDICT_BITS;
  }

  refusal(podClass: PodClass, entry: NodeEntry): Refusal | undefined {
    return REFUSALS[this.of(podClass, entry)];
  }

  /** Whether a spread constraint that honours affinity counts the node. */
  matchesAffinity(podClass: PodClass, entry: NodeEntry): boolean {
    return (this.#look(podClass, entry) & AFFINITY_BIT) !== 0;
  }

  /** Whether a spread constraint that honours taints counts the node. */
  toleratesTaints(podClass: PodClass, entry: NodeEntry): boolean {
    return (this.#look(podClass, entry) & TAINTS_BIT) !== 0;
  }

  #look(podClass: PodClass, entry: NodeEntry): number {
    const { slot, generation } = entry;
    if (slot >= this.#generations.length) this.#grow(slot + 1);
    if (this.#generations[slot] !== generation) {
      this.#generations[slot] = generation;
      this.#verdicts[slot] = judge(podClass, entry.node as Node);
    }
    return this.#verdicts[slot] as number;
  }

  #grow(atLeast: number): void {
    const size = Math.max(atLeast, 2 * this.#generations.length, 16);
    const generations = new Int32Array(size);
    generations.set(this.#generations);
    const verdicts = new Uint8Array(size);
    verdicts.set(this.#verdicts);
    this.#generations = generations;
    this.#verdicts = verdicts;
  }
}

function judge(podClass: PodClass, node: Node): number {
  const { spec, namedNodes } = podClass;
  const name = node.metadata.name ?? '';
  const matches = podClass.nodes.matches(name, node.metadata.labels);
  const tolerated = untoleratedTaint(node.spec?.taints, spec.tolerations, ['NoSchedule', 'NoExecute']) === undefined;
  const bits = (matches ? AFFINITY_BIT : 0) | (tolerated ? TAINTS_BIT : 0);
  if (namedNodes !== undefined && !namedNodes.has(name)) return bits | 4;
  if (node.spec?.unschedulable && !toleratesUnschedulable(podClass)) return bits | 1;
  if (!tolerated) return bits | 2;
  return matches ? bits : bits | 3;
}

function toleratesUnschedulable({ spec }: PodClass): boolean {
  const taint = { key: TAINT_UNSCHEDULABLE, effect: 'NoSchedule' } as const;
  return spec.tolerations?.some((toleration) => tolerates(toleration, taint)) ?? false;
}
