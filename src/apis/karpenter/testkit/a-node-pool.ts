import { type Written, withDefaults } from '../../schema/with-defaults.ts';
import type { NodePool, NodePoolSpec } from '../node-pool.ts';
import { NODE_POOL_SPEC } from '../node-pool-schema.ts';

export interface NodePoolParts {
  readonly name?: string;
  /** Spec fields besides the template. */
  readonly spec?: Omit<Written<NodePoolSpec>, 'template'>;
  readonly template?: Written<NodePoolSpec['template']['spec']>;
  readonly metadata?: NodePoolSpec['template']['metadata'];
}

/** A pool as the API server returns it, with defaults; without parts, a minimal one. */
export function aNodePool({ name = 'general', spec, template, metadata = {} }: NodePoolParts = {}): NodePool {
  const nodeClassRef = { group: 'spindrift.dev', kind: 'SimulatedNodeClass', name: 'default' };
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name, uid: `uid-${name}`, generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: withDefaults(NODE_POOL_SPEC, {
      ...spec,
      template: { metadata, spec: { requirements: [], nodeClassRef, ...template } },
    }),
  };
}
