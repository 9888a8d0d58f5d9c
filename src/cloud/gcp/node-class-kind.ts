import {
  GCE_NODE_CLASS_CONDITIONS,
  GCE_NODE_CLASS_DEFINITION,
  GCE_NODE_CLASSES,
  type GceNodeClass,
} from '../../apis/gcp/gce-node-class.ts';
import type { NodeClassKind } from '../node-class-kind.ts';

/** The kind of the node classes of Compute Engine. */
export const NODE_CLASS_KIND: NodeClassKind<GceNodeClass> = {
  resource: GCE_NODE_CLASSES,
  definition: GCE_NODE_CLASS_DEFINITION,
  conditions: GCE_NODE_CLASS_CONDITIONS,
};
