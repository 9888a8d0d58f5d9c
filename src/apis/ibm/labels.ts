/** Labels, annotations and finalizers of karpenter-provider-ibm-cloud, kept for its users' manifests and tools. */

/** The group of IBMNodeClass, and the domain of its labels. */
export const IBM_GROUP = 'karpenter-ibm.sh';

/** `bxf` of `bxf-4x16`. */
export const LABEL_IBM_FAMILY = `${IBM_GROUP}/instance-family`;
/** `4x16` of `bxf-4x16`. */
export const LABEL_IBM_SIZE = `${IBM_GROUP}/instance-size`;
/** vCPUs. */
export const LABEL_IBM_CPU = `${IBM_GROUP}/instance-cpu`;
/** MiB. */
export const LABEL_IBM_MEMORY = `${IBM_GROUP}/instance-memory`;
/** The generation of a family: `2` of bx2, `3` of gx3d; absent of Flex families, which have none. */
export const LABEL_IBM_GENERATION = `${IBM_GROUP}/instance-generation`;
export const LABEL_IBM_GPU_COUNT = `${IBM_GROUP}/instance-gpu-count`;
export const LABEL_IBM_GPU_NAME = `${IBM_GROUP}/instance-gpu-name`;
export const LABEL_IBM_GPU_MANUFACTURER = `${IBM_GROUP}/instance-gpu-manufacturer`;
/** MiB of one GPU. */
export const LABEL_IBM_GPU_MEMORY = `${IBM_GROUP}/instance-gpu-memory`;
/** GB of disks that come with the machine. */
export const LABEL_IBM_LOCAL_STORAGE = `${IBM_GROUP}/instance-local-storage`;

export const ANNOTATION_IBM_HASH = `${IBM_GROUP}/ibmnodeclass-hash`;
export const ANNOTATION_IBM_HASH_VERSION = `${IBM_GROUP}/ibmnodeclass-hash-version`;
/** On a claim: the subnet, security groups and image of its machine, to detect drift. */
export const ANNOTATION_IBM_SUBNET = `${IBM_GROUP}/subnet-id`;
export const ANNOTATION_IBM_SECURITY_GROUPS = `${IBM_GROUP}/security-group-ids`;
export const ANNOTATION_IBM_IMAGE = `${IBM_GROUP}/image-id`;
/** On a claim whose machine is still starting: the instance. */
export const ANNOTATION_IBM_INSTANCE = `${IBM_GROUP}/instance-id`;

/** Keeps a node class while claims refer to it. */
export const FINALIZER_IBM_NODE_CLASS = `termination.nodeclass.${IBM_GROUP}/finalizer`;
