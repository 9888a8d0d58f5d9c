/** Label keys with a special meaning to the engine. */
export const ZONE = 'topology.kubernetes.io/zone';
export const HOSTNAME = 'kubernetes.io/hostname';
export const INSTANCE_TYPE = 'node.kubernetes.io/instance-type';
export const CAPACITY_TYPE = 'karpenter.sh/capacity-type';
export const NODE_POOL = 'karpenter.sh/nodepool';

/** The resource of which every pod takes one unit. */
export const PODS = 'pods';
