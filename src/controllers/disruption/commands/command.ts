/** A disruption command: launch replacements first, then delete the candidates. */
import type { NodePool } from '../../../apis/karpenter/node-pool.ts';
import type { Pod } from '../../../apis/kubernetes/pod.ts';
import type { NewNode } from '../../../engine/solution.ts';
import type { Candidate, DisruptionClass } from '../candidate.ts';

/** The reasons for a disruption. */
export const COMMAND_REASONS = ['Empty', 'Underutilized', 'Drifted', 'Expired', 'Unhealthy'] as const;
export type CommandReason = (typeof COMMAND_REASONS)[number];

/** A replacement to launch before the candidates are deleted. */
export interface PlannedNode {
  readonly node: NewNode;
  readonly pool: NodePool;
  /** The cloud's name of an instance type of the plan. */
  readonly cloudName: (instanceType: string) => string;
  /** The pods that will be recreated on it. */
  readonly pods: readonly Pod[];
}

/** Why a claim is repaired, and how. */
export interface ClaimRepair {
  /** The node condition that made it unhealthy. */
  readonly condition: string;
  /** The longest drain, even if the claim allows more. */
  readonly graceMs?: number;
}

/** An existing node that receives pods of the candidates. */
export interface FilledNode {
  readonly claim: string;
  readonly node: string;
  /** The pods that will be recreated on it. */
  readonly pods: readonly Pod[];
}

export interface Command {
  readonly id: string;
  readonly reason: CommandReason;
  readonly disruption: DisruptionClass;
  readonly candidates: readonly Candidate[];
  readonly newNodes: readonly PlannedNode[];
  /** Names of existing claims that must be up before the candidates are deleted. */
  readonly needs: readonly string[];
  /** Names of nodes that receive pods of the candidates. */
  readonly receivers: readonly string[];
  /** Receivers that are cordoned until the planned pods have arrived. */
  readonly fills?: readonly FilledNode[];
  /** NodePools whose SpotPolicy the command knowingly violates, because no on-demand node can be launched. */
  readonly missed?: readonly string[];
  /** Why claims are repaired, and how, by their names. */
  readonly repairs?: Readonly<Record<string, ClaimRepair>>;
}

/** The `decision` label of metrics. */
export function decisionOf({ newNodes }: Pick<Command, 'newNodes'>): 'delete' | 'replace' {
  return newNodes.length === 0 ? 'delete' : 'replace';
}
