/** The whole status of a node class: the resources it selects, and whether it can launch. */
import type { Ec2NodeClass } from '../../../apis/aws/ec2-node-class.ts';
import type { ConditionChange } from '../../../apis/karpenter/conditions.ts';
import type { StatusPart } from './resolution.ts';
import { type ResolveOptions, resolveNodeClass } from './resolve-node-class.ts';
import type { NodeClassValidation } from './validate-node-class.ts';

const PERIOD_MS = 60_000;

export interface WholeResolution {
  readonly conditions: readonly ConditionChange[];
  readonly status: StatusPart;
  readonly againMs: number;
}

export async function resolveAndValidate(
  nodeClass: Ec2NodeClass,
  options: ResolveOptions,
  validation: NodeClassValidation,
  signal: AbortSignal,
): Promise<WholeResolution> {
  const parts = await resolveNodeClass(nodeClass, options, signal);
  const status: StatusPart = Object.assign({}, ...parts.map((part) => part.status ?? {}));
  const resolved = { ...nodeClass, status: { ...nodeClass.status, ...status } } as Ec2NodeClass;
  const all = [...parts, await validation.validate(resolved, parts, signal)];
  return {
    conditions: all.map(({ condition }) => condition),
    status,
    againMs: Math.min(PERIOD_MS, ...all.flatMap(({ againMs }) => againMs ?? [])),
  };
}
