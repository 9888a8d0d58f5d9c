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

/** Lets the embedded cluster's kubelet, or kwok, play a node: the one and the other look for it. */
export const ANNOTATION_SIMULATED = 'spindrift.dev/simulated';
export const ANNOTATION_KWOK = 'kwok.x-k8s.io/node';
/** On a node: its machine as the cloud keeps it, so that a cloud that starts anew finds it again. */
export const ANNOTATION_INSTANCE = 'spindrift.dev/simulated-instance';
/** Put on a node by a person: its machine is taken back after this duration. */
export const ANNOTATION_INTERRUPT = 'spindrift.dev/interrupt';
