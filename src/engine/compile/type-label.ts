import type { InstanceType } from '../problem.ts';
import { INSTANCE_TYPE } from './well-known.ts';

/** The instance type on the label of its nodes: its name, unless its labels say another, as where two node classes sell types of one name. */
export function typeLabel(type: InstanceType | undefined): string {
  return type?.labels?.[INSTANCE_TYPE] ?? type?.name ?? '';
}
