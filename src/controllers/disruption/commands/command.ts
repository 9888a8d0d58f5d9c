/** What a disruption does: some nodes go, others come first. */
import type { NodePool } from '../../../apis/karpenter/node-pool.ts';
import type { Pod } from '../../../apis/kubernetes/pod.ts';
import type { NewNode } from '../../../engine/solution.ts';
import type { Candidate, DisruptionClass } from '../candidate.ts';

/** Why nodes go. */
export const COMMAND_REASONS = ['Empty', 'Underutilized', 'Drifted', 'Expired', 'Unhealthy'] as const;
export type CommandReason = (typeof COMMAND_REASONS)[number];

/** A node to be made before others go. */
export interface PlannedNode {
  readonly node: NewNode;
  readonly pool: NodePool;
  /** What the cloud calls an instance type of the plan. */
  readonly cloudName: (instanceType: string) => string;
  /** The pods whose successors it is made for. */
  readonly pods: readonly Pod[];
}

/** Why a claim is repaired, and how. */
export interface ClaimRepair {
  /** The condition of its node that tells of its sickness. */
  readonly condition: string;
  /** So long at most its pods have to leave, whatever the claim says. */
  readonly graceMs?: number;
}

/** A node that is there and is filled up with pods of nodes that go. */
export interface FilledNode {
  readonly claim: string;
  readonly node: string;
  /** The pods whose successors are to come to it. */
  readonly pods: readonly Pod[];
}

export interface Command {
  readonly id: string;
  readonly reason: CommandReason;
  readonly disruption: DisruptionClass;
  readonly candidates: readonly Candidate[];
  readonly newNodes: readonly PlannedNode[];
  /** Names of claims on their way whose nodes pods are to go to. */
  readonly needs: readonly string[];
  /** Names of nodes that pods are to go to. */
  readonly receivers: readonly string[];
  /** Nodes to be closed to others while the pods that leave come to them. */
  readonly fills?: readonly FilledNode[];
  /** Why claims are repaired, and how, by their names. */
  readonly repairs?: Readonly<Record<string, ClaimRepair>>;
}

/** Whether nodes come for those that go, as metrics tell it. */
export function decisionOf({ newNodes }: Pick<Command, 'newNodes'>): 'delete' | 'replace' {
  return newNodes.length === 0 ? 'delete' : 'replace';
}
