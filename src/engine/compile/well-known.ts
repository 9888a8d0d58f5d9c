/** Label keys the engine itself gives a meaning. */
export const ZONE = 'topology.kubernetes.io/zone';
export const HOSTNAME = 'kubernetes.io/hostname';
export const INSTANCE_TYPE = 'node.kubernetes.io/instance-type';
export const CAPACITY_TYPE = 'karpenter.sh/capacity-type';
export const NODE_POOL = 'karpenter.sh/nodepool';

/** The resource that every pod takes one of. */
export const PODS = 'pods';
