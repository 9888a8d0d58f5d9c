/** The labels and tags of the simulated cloud. */

export const INSTANCE_CATEGORY = 'spindrift.dev/instance-category';
export const INSTANCE_FAMILY = 'spindrift.dev/instance-family';
export const INSTANCE_GENERATION = 'spindrift.dev/instance-generation';
export const INSTANCE_SIZE = 'spindrift.dev/instance-size';
export const INSTANCE_CPU = 'spindrift.dev/instance-cpu';
/** In MiB. */
export const INSTANCE_MEMORY = 'spindrift.dev/instance-memory';
export const INSTANCE_GPU_NAME = 'spindrift.dev/instance-gpu-name';
export const INSTANCE_GPU_COUNT = 'spindrift.dev/instance-gpu-count';
/** On nodes that run in a reservation. */
export const RESERVATION_ID = 'spindrift.dev/reservation-id';

/** Tags of instances: who launched them, and for which claim. */
export const TAG_CLUSTER = 'spindrift.dev/cluster';
export const TAG_CLAIM_UID = 'spindrift.dev/nodeclaim-uid';
export const TAG_CLAIM = 'karpenter.sh/nodeclaim';
export const TAG_POOL = 'karpenter.sh/nodepool';
