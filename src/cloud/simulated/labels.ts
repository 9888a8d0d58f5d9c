/** The labels, tags and annotations of the simulated cloud. */
import { SPINDRIFT_GROUP } from '../../apis/spindrift/group.ts';
import type { CloudLabels } from '../cloud.ts';

export const INSTANCE_CATEGORY = `${SPINDRIFT_GROUP}/instance-category`;
export const INSTANCE_FAMILY = `${SPINDRIFT_GROUP}/instance-family`;
export const INSTANCE_GENERATION = `${SPINDRIFT_GROUP}/instance-generation`;
export const INSTANCE_SIZE = `${SPINDRIFT_GROUP}/instance-size`;
export const INSTANCE_CPU = `${SPINDRIFT_GROUP}/instance-cpu`;
/** In MiB. */
export const INSTANCE_MEMORY = `${SPINDRIFT_GROUP}/instance-memory`;
export const INSTANCE_GPU_NAME = `${SPINDRIFT_GROUP}/instance-gpu-name`;
export const INSTANCE_GPU_COUNT = `${SPINDRIFT_GROUP}/instance-gpu-count`;
/** On nodes that run in a reservation. */
export const RESERVATION_ID = `${SPINDRIFT_GROUP}/reservation-id`;

export const CLOUD_LABELS: CloudLabels = {
  wellKnown: [
    INSTANCE_CATEGORY,
    INSTANCE_FAMILY,
    INSTANCE_GENERATION,
    INSTANCE_SIZE,
    INSTANCE_CPU,
    INSTANCE_MEMORY,
    INSTANCE_GPU_NAME,
    INSTANCE_GPU_COUNT,
    RESERVATION_ID,
  ],
  restrictedDomains: [SPINDRIFT_GROUP],
  reservation: RESERVATION_ID,
};

/** Tags of instances: the cluster and claim they were launched for. */
export const TAG_CLUSTER = `${SPINDRIFT_GROUP}/cluster`;
export const TAG_CLAIM_UID = `${SPINDRIFT_GROUP}/nodeclaim-uid`;
export const TAG_CLAIM = 'karpenter.sh/nodeclaim';
export const TAG_POOL = 'karpenter.sh/nodepool';

/** Marks nodes that the embedded cluster's kubelet, or kwok, simulates. */
export const ANNOTATION_SIMULATED = `${SPINDRIFT_GROUP}/simulated`;
export const ANNOTATION_KWOK = 'kwok.x-k8s.io/node';
/** On a node: its machine as the cloud stores it, so that a restarted cloud finds it again. */
export const ANNOTATION_INSTANCE = `${SPINDRIFT_GROUP}/simulated-instance`;
