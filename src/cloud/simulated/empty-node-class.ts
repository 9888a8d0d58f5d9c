import { withDefaults } from '../../apis/schema/with-defaults.ts';
import type { SimulatedNodeClass } from '../../apis/spindrift/simulated-node-class.ts';
import { SIMULATED_NODE_CLASS_SPEC } from '../../apis/spindrift/simulated-node-class-schema.ts';

/** A node class with an empty spec: it sells everything. */
export function emptyNodeClass(name: string): SimulatedNodeClass {
  return {
    apiVersion: 'spindrift.dev/v1alpha1',
    kind: 'SimulatedNodeClass',
    metadata: { name },
    spec: withDefaults(SIMULATED_NODE_CLASS_SPEC, {}),
  };
}
