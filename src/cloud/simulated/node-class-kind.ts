import {
  SIMULATED_NODE_CLASS_CONDITIONS,
  SIMULATED_NODE_CLASS_DEFINITION,
  SIMULATED_NODE_CLASSES,
  type SimulatedNodeClass,
} from '../../apis/spindrift/simulated-node-class.ts';
import type { NodeClassKind } from '../node-class-kind.ts';

/** The kind of the simulated cloud's node classes. Editing one never causes drift by itself. */
export const NODE_CLASS_KIND: NodeClassKind<SimulatedNodeClass> = {
  resource: SIMULATED_NODE_CLASSES,
  definition: SIMULATED_NODE_CLASS_DEFINITION,
  conditions: SIMULATED_NODE_CLASS_CONDITIONS,
};
