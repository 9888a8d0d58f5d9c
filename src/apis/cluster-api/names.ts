/** Labels, annotations and taints of Cluster API, its providers and its autoscalers that we read or write. */

/** The group of Cluster API's core kinds, and the domain of its labels. */
export const CLUSTER_API_GROUP = 'cluster.x-k8s.io';
/** The group of the providers' kinds: AWSMachine, GCPMachineTemplate, ... */
export const INFRASTRUCTURE_GROUP = `infrastructure.${CLUSTER_API_GROUP}`;
/** The group of the kinds that run control planes. */
export const CONTROL_PLANE_GROUP = `controlplane.${CLUSTER_API_GROUP}`;

/** The cluster that an object belongs to. */
export const LABEL_CLUSTER_NAME = `${CLUSTER_API_GROUP}/cluster-name`;
/** The MachineDeployment that a machine came from. */
export const LABEL_DEPLOYMENT_NAME = `${CLUSTER_API_GROUP}/deployment-name`;
/** The MachineSet that a machine came from. */
export const LABEL_SET_NAME = `${CLUSTER_API_GROUP}/set-name`;
/** On machines of the control plane, with any value. */
export const LABEL_CONTROL_PLANE = `${CLUSTER_API_GROUP}/control-plane`;
/** On objects that the topology of a Cluster owns; Cluster API reverts other changes to them. */
export const LABEL_TOPOLOGY_OWNED = 'topology.cluster.x-k8s.io/owned';
/** On Nodes with interruptible capacity; its value is empty. */
export const LABEL_INTERRUPTIBLE = `${CLUSTER_API_GROUP}/interruptible`;
/** Selects the provider controller that reconciles an object. */
export const LABEL_WATCH_FILTER = `${CLUSTER_API_GROUP}/watch-filter`;

/** On the infrastructure of a Cluster: the tool that provisions it instead of its provider. */
export const ANNOTATION_MANAGED_BY = `${CLUSTER_API_GROUP}/managed-by`;
/** With any value: controllers leave the object alone. */
export const ANNOTATION_PAUSED = `${CLUSTER_API_GROUP}/paused`;
/** On a machine: it is deleted first when its MachineSet is scaled down. */
export const ANNOTATION_DELETE_MACHINE = `${CLUSTER_API_GROUP}/delete-machine`;
/** On a machine: MachineHealthChecks leave it alone. */
export const ANNOTATION_SKIP_REMEDIATION = `${CLUSTER_API_GROUP}/skip-remediation`;
/** On a machine: a MachineHealthCheck treats it as unhealthy at once. */
export const ANNOTATION_REMEDIATE_MACHINE = `${CLUSTER_API_GROUP}/remediate-machine`;
/** On a claim, as upstream's provider writes it: `namespace/name` of its machine. */
export const ANNOTATION_MACHINE = `${CLUSTER_API_GROUP}/machine`;
/** On a Node: the labels that Cluster API has copied to it, separated by commas. */
export const ANNOTATION_LABELS_FROM_MACHINE = `${CLUSTER_API_GROUP}/labels-from-machine`;
/** The minimum replicas of a MachineDeployment for autoscalers; its webhook enforces it too. */
export const ANNOTATION_MIN_SIZE = `${CLUSTER_API_GROUP}/cluster-api-autoscaler-node-group-min-size`;
/** The maximum replicas of a MachineDeployment for autoscalers; its webhook enforces it too. */
export const ANNOTATION_MAX_SIZE = `${CLUSTER_API_GROUP}/cluster-api-autoscaler-node-group-max-size`;
/** The prefix of `cpu`, `memory`, `gpu-count`, `gpu-type`, `maxPods`, `ephemeral-disk`, `labels` and `taints`. */
export const CAPACITY_ANNOTATIONS = 'capacity.cluster-autoscaler.kubernetes.io';

/** On Nodes until Cluster API has first copied labels to them. */
export const TAINT_UNINITIALIZED = { key: 'node.cluster.x-k8s.io/uninitialized', effect: 'NoSchedule' } as const;
