import type { NodePool } from './node-pool.ts';

/** Whether a pool keeps a fixed number of nodes (`spec.replicas`), whether or not pods need them. */
export function isStaticPool({ spec }: NodePool): boolean {
  return spec.replicas !== undefined;
}
