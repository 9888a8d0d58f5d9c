import type { InstanceType } from '../problem.ts';
import { INSTANCE_TYPE } from './well-known.ts';

/**
 * The instance type on the label of its nodes: its name, unless its labels give another. They do if two node classes offer
 * types of the same name.
 */
export function typeLabel(type: InstanceType | undefined): string {
  return type?.labels?.[INSTANCE_TYPE] ?? type?.name ?? '';
}
