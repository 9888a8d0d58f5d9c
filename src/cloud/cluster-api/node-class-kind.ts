import {
  CLUSTER_API_NODE_CLASS_CONDITIONS,
  CLUSTER_API_NODE_CLASS_DEFINITION,
  CLUSTER_API_NODE_CLASSES,
  type ClusterApiNodeClass,
} from '../../apis/cluster-api/cluster-api-node-class.ts';
import type { NodeClassKind } from '../node-class-kind.ts';

/** The kind of the node classes; editing one never makes machines drift by itself. */
export const NODE_CLASS_KIND: NodeClassKind<ClusterApiNodeClass> = {
  resource: CLUSTER_API_NODE_CLASSES,
  definition: CLUSTER_API_NODE_CLASS_DEFINITION,
  conditions: CLUSTER_API_NODE_CLASS_CONDITIONS,
};
