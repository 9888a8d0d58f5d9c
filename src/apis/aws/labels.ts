/** The labels, annotations, tags, taints and resources that Karpenter's users know on AWS. */
import { KARPENTER_GROUP, LABEL_NODE_POOL } from '../karpenter/labels.ts';

/** The group of EC2NodeClass, and the domain of its labels. */
export const AWS_GROUP = 'karpenter.k8s.aws';

/** Labels of a capacity reservation, on the nodes that run in it. */
export const LABEL_RESERVATION_ID = `${AWS_GROUP}/capacity-reservation-id`;
export const LABEL_RESERVATION_TYPE = `${AWS_GROUP}/capacity-reservation-type`;
export const LABEL_RESERVATION_INTERRUPTIBLE = `${AWS_GROUP}/capacity-reservation-interruptible`;

export const LABEL_CATEGORY = `${AWS_GROUP}/instance-category`;
export const LABEL_GENERATION = `${AWS_GROUP}/instance-generation`;
export const LABEL_FAMILY = `${AWS_GROUP}/instance-family`;
export const LABEL_SIZE = `${AWS_GROUP}/instance-size`;
export const LABEL_FLEX = `${AWS_GROUP}/instance-capability-flex`;
export const LABEL_CPU = `${AWS_GROUP}/instance-cpu`;
export const LABEL_CPU_MANUFACTURER = `${AWS_GROUP}/instance-cpu-manufacturer`;
export const LABEL_CPU_CLOCK = `${AWS_GROUP}/instance-cpu-sustained-clock-speed-mhz`;
/** In MiB. */
export const LABEL_MEMORY = `${AWS_GROUP}/instance-memory`;
/** In Mbit per second. */
export const LABEL_EBS_BANDWIDTH = `${AWS_GROUP}/instance-ebs-bandwidth`;
/** In Mbit per second. */
export const LABEL_NETWORK_BANDWIDTH = `${AWS_GROUP}/instance-network-bandwidth`;
/** In GB. */
export const LABEL_LOCAL_NVME = `${AWS_GROUP}/instance-local-nvme`;
export const LABEL_HYPERVISOR = `${AWS_GROUP}/instance-hypervisor`;
export const LABEL_ENCRYPTION_IN_TRANSIT = `${AWS_GROUP}/instance-encryption-in-transit-supported`;
export const LABEL_GPU_NAME = `${AWS_GROUP}/instance-gpu-name`;
export const LABEL_GPU_MANUFACTURER = `${AWS_GROUP}/instance-gpu-manufacturer`;
export const LABEL_GPU_COUNT = `${AWS_GROUP}/instance-gpu-count`;
export const LABEL_GPU_MEMORY = `${AWS_GROUP}/instance-gpu-memory`;
export const LABEL_ACCELERATOR_NAME = `${AWS_GROUP}/instance-accelerator-name`;
export const LABEL_ACCELERATOR_MANUFACTURER = `${AWS_GROUP}/instance-accelerator-manufacturer`;
export const LABEL_ACCELERATOR_COUNT = `${AWS_GROUP}/instance-accelerator-count`;
export const LABEL_TENANCY = `${AWS_GROUP}/instance-tenancy`;
export const LABEL_PLACEMENT_GROUP = `${AWS_GROUP}/placement-group-id`;
export const LABEL_PLACEMENT_PARTITION = `${AWS_GROUP}/placement-group-partition`;
/** Names the zone the same way in every account. */
export const LABEL_ZONE_ID = 'topology.k8s.aws/zone-id';
/** The zone label of volumes of the EBS driver. */
export const LABEL_EBS_ZONE = 'topology.ebs.csi.aws.com/zone';

export const ANNOTATION_HASH = `${AWS_GROUP}/ec2nodeclass-hash`;
export const ANNOTATION_HASH_VERSION = `${AWS_GROUP}/ec2nodeclass-hash-version`;
/** On a claim whose instance has the tags that name the claim and the node. */
export const ANNOTATION_TAGGED = `${AWS_GROUP}/tagged`;
/** On a claim: the instance profile of its instance, which is kept while the instance exists. */
export const ANNOTATION_INSTANCE_PROFILE = `${AWS_GROUP}/instance-profile-name`;
/** Keeps a node class until no claim refers to it and its profiles and launch templates are deleted. */
export const FINALIZER_NODE_CLASS = `${AWS_GROUP}/termination`;

export const TAG_NODE_CLASS = `${AWS_GROUP}/ec2nodeclass`;
export const TAG_NODE_POOL = LABEL_NODE_POOL;
export const TAG_NODE_CLAIM = `${KARPENTER_GROUP}/nodeclaim`;
export const TAG_CLUSTER_NAME = 'eks:eks-cluster-name';

/** `owned` on everything that belongs to a cluster. */
export function clusterTag(cluster: string): string {
  return `kubernetes.io/cluster/${cluster}`;
}

export const RESOURCE_NVIDIA_GPU = 'nvidia.com/gpu';
export const RESOURCE_AMD_GPU = 'amd.com/gpu';
export const RESOURCE_GAUDI = 'habana.ai/gaudi';
export const RESOURCE_NEURON = 'aws.amazon.com/neuron';
export const RESOURCE_NEURON_CORE = 'aws.amazon.com/neuroncore';
export const RESOURCE_EFA = 'vpc.amazonaws.com/efa';
export const RESOURCE_POD_ENI = 'vpc.amazonaws.com/pod-eni';
export const RESOURCE_WINDOWS_ADDRESSES = 'vpc.amazonaws.com/PrivateIPv4Address';
