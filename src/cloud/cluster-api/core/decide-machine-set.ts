/** What a MachineSet does next: how many machines it makes, and which ones it deletes. Cluster API's rules, without its preflight checks. */
import type { CoreMachine } from '../../../apis/cluster-api/machine.ts';
import type { MachineSet } from '../../../apis/cluster-api/machine-deployment.ts';
import { ANNOTATION_DELETE_MACHINE, ANNOTATION_SKIP_REMEDIATION } from '../../../apis/cluster-api/names.ts';

export interface MachineSetPlan {
  readonly create: number;
  readonly delete: readonly CoreMachine[];
}

/** The condition by which a health check asks for a machine to be replaced. */
export const OWNER_REMEDIATED = 'OwnerRemediated';

export function decideMachineSet(set: MachineSet, machines: readonly CoreMachine[]): MachineSetPlan {
  if (set.metadata.deletionTimestamp !== undefined) return { create: 0, delete: [] };
  const present = machines.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const remediated = present.filter(isToBeRemediated);
  if (remediated.length > 0) return { create: 0, delete: remediated };
  const difference = (set.spec?.replicas ?? 0) - present.length;
  if (difference >= 0) return { create: difference, delete: [] };
  const inOrder = [...present].sort((a, b) => deletePriority(b) - deletePriority(a) || byName(a, b));
  return { create: 0, delete: inOrder.slice(0, -difference) };
}

function isToBeRemediated({ metadata, status }: CoreMachine): boolean {
  if (metadata.annotations?.[ANNOTATION_SKIP_REMEDIATION] !== undefined) return false;
  return status?.conditions?.some(({ type, status }) => type === OWNER_REMEDIATED && status === 'False') ?? false;
}

/** Marked machines first, then those without a Node, then any. */
function deletePriority({ metadata, status }: CoreMachine): number {
  if (metadata.annotations?.[ANNOTATION_DELETE_MACHINE] !== undefined) return 80;
  return status?.nodeRef?.name === undefined ? 50 : 20;
}

function byName(a: CoreMachine, b: CoreMachine): number {
  return (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1;
}
