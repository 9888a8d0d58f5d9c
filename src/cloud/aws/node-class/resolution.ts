/** The outcome for one part of a node class: a condition, and fields of its status. */

import type { Ec2NodeClassStatus } from '../../../apis/aws/ec2-node-class.ts';
import type { ConditionChange } from '../../../apis/karpenter/conditions.ts';
import { asError, SpindriftError } from '../../../platform/errors.ts';

export type StatusPart = {
  -readonly [K in keyof Omit<Ec2NodeClassStatus, 'conditions'>]?: Ec2NodeClassStatus[K] | undefined;
};

export interface Resolution {
  readonly condition: ConditionChange;
  readonly status?: StatusPart;
  /** When to resolve again, if sooner than usual. */
  readonly againMs?: number;
}

export function resolved(type: string, status: StatusPart = {}, againMs?: number): Resolution {
  return { condition: { type, status: 'True' }, status, ...(againMs === undefined ? {} : { againMs }) };
}

export function unresolved(type: string, reason: string, message: string, status: StatusPart = {}): Resolution {
  return { condition: { type, status: 'False', reason, message }, status, againMs: 60_000 };
}

/** Turns a failed call into a condition: unknown if it may pass by itself, false if a permission or a field must be changed. */
export function failed(type: string, reason: string, error: unknown): Resolution {
  const terminal = error instanceof SpindriftError && error.retry === 'terminal';
  const { message } = asError(error);
  const change = { type, reason: terminal && error.code === 'CLOUD_DENIED' ? 'Unauthorized' : reason, message };
  return { condition: { ...change, status: terminal ? 'False' : 'Unknown' }, againMs: terminal ? 60_000 : 10_000 };
}
