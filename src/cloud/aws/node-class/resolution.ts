/** What became of one part of a node class: a condition, and what goes to its status. */

import type { Ec2NodeClassStatus } from '../../../apis/aws/ec2-node-class.ts';
import type { ConditionChange } from '../../../apis/karpenter/conditions.ts';
import { asError, SpindriftError } from '../../../platform/errors.ts';

export type StatusPart = {
  -readonly [K in keyof Omit<Ec2NodeClassStatus, 'conditions'>]?: Ec2NodeClassStatus[K] | undefined;
};

export interface Resolution {
  readonly condition: ConditionChange;
  readonly status?: StatusPart;
  /** When to look again, where that is sooner than usual. */
  readonly againMs?: number;
}

export function resolved(type: string, status: StatusPart = {}, againMs?: number): Resolution {
  return { condition: { type, status: 'True' }, status, ...(againMs === undefined ? {} : { againMs }) };
}

export function unresolved(type: string, reason: string, message: string, status: StatusPart = {}): Resolution {
  return { condition: { type, status: 'False', reason, message }, status, againMs: 60_000 };
}

/** A call failed. What nobody has to change is unknown for now; a denied permission, or a refusal, is false and says so. */
export function failed(type: string, reason: string, error: unknown): Resolution {
  const terminal = error instanceof SpindriftError && error.retry === 'terminal';
  const { message } = asError(error);
  const change = { type, reason: terminal && error.code === 'CLOUD_DENIED' ? 'Unauthorized' : reason, message };
  return { condition: { ...change, status: terminal ? 'False' : 'Unknown' }, againMs: terminal ? 60_000 : 10_000 };
}
