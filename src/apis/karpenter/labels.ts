/** Labels, annotations, taints and finalizers of Karpenter, kept for its users, tools and dashboards. */
import type { Taint } from '../kubernetes/node.ts';

/** The group of the kinds in this folder, and the domain of their labels. */
export const KARPENTER_GROUP = 'karpenter.sh';

/** The purchase options of a machine. */
export const CAPACITY_TYPES = ['reserved', 'spot', 'on-demand'] as const;
export type CapacityType = (typeof CAPACITY_TYPES)[number];

// Labels of Kubernetes that requirements can use.
/** The zone a node is in. */
export const LABEL_ZONE = 'topology.kubernetes.io/zone';
/** The region a node is in. */
export const LABEL_REGION = 'topology.kubernetes.io/region';
/** The instance type of a node. */
export const LABEL_INSTANCE_TYPE = 'node.kubernetes.io/instance-type';
/** The processor architecture of a node: `amd64` or `arm64`. */
export const LABEL_ARCH = 'kubernetes.io/arch';
/** The operating system of a node: `linux` or `windows`. */
export const LABEL_OS = 'kubernetes.io/os';
/** The build of Windows on a node. */
export const LABEL_WINDOWS_BUILD = 'node.kubernetes.io/windows-build';
/** The name of a node; requirements cannot use it, as it is not known before the node exists. */
export const LABEL_HOSTNAME = 'kubernetes.io/hostname';
/** Excludes a node from load balancers; set to `karpenter` when its drain starts. */
export const LABEL_EXCLUDE_FROM_BALANCERS = 'node.kubernetes.io/exclude-from-external-load-balancers';

// Labels of Karpenter.
/** The node pool that a claim and its node belong to. */
export const LABEL_NODE_POOL = `${KARPENTER_GROUP}/nodepool`;
/** The capacity type of a claim or node: one of {@link CAPACITY_TYPES}. */
export const LABEL_CAPACITY_TYPE = `${KARPENTER_GROUP}/capacity-type`;
/** `true` on a node that has been registered. */
export const LABEL_REGISTERED = `${KARPENTER_GROUP}/registered`;
/** `true` on an initialized node: it is ready, with all its resources and without startup taints. */
export const LABEL_INITIALIZED = `${KARPENTER_GROUP}/initialized`;
/** `true`, set by the node itself: registration does not copy the claim's taints to it. */
export const LABEL_DO_NOT_SYNC_TAINTS = `${KARPENTER_GROUP}/do-not-sync-taints`;

/** The label that names the node class of a claim and node: `<group>/<kind in lower case>`. */
export function nodeClassLabel(reference: { readonly group: string; readonly kind: string }): string {
  return `${reference.group}/${reference.kind.toLowerCase()}`;
}

// Annotations.
/** `true` on a node, claim or pod: do not disrupt it; on a pod also a duration from its start. */
export const ANNOTATION_DO_NOT_DISRUPT = `${KARPENTER_GROUP}/do-not-disrupt`;
/** `true` on a node or claim: do not repair it. */
export const ANNOTATION_DO_NOT_REPAIR = `${KARPENTER_GROUP}/do-not-repair`;
/** On a pod: the cost of its eviction, a 32 bit number; nodes with costly pods are disrupted later. */
export const ANNOTATION_DISRUPTION_COST = `${KARPENTER_GROUP}/disruption-cost`;
/** The hash of the pool's template, on the pool and on each of its claims: where they differ, the claim has drifted. */
export const ANNOTATION_NODE_POOL_HASH = `${KARPENTER_GROUP}/nodepool-hash`;
/** The version of the hash; hashes of different versions are not compared, the claim gets the new hash instead. */
export const ANNOTATION_NODE_POOL_HASH_VERSION = `${KARPENTER_GROUP}/nodepool-hash-version`;
/** When pods of a claim's node are deleted regardless of PodDisruptionBudgets; RFC 3339. It only moves earlier. */
export const ANNOTATION_TERMINATION_TIMESTAMP = `${KARPENTER_GROUP}/nodeclaim-termination-timestamp`;
/** Whether a pool's `minValues` were relaxed for a claim: `true` or `false`. */
export const ANNOTATION_MIN_VALUES_RELAXED = `${KARPENTER_GROUP}/nodeclaim-min-values-relaxed`;
/** Drivers of dynamic resource allocation, separated by commas, that a claim's node needs to be initialized. */
export const ANNOTATION_DRA_DRIVERS = `${KARPENTER_GROUP}/requested-dra-drivers`;
/** The boot ID of a node before its reboot. */
export const ANNOTATION_REBOOT_PRE_BOOT_ID = `${KARPENTER_GROUP}/reboot-pre-boot-id`;
/** The time to evict pods before their node reboots. */
export const ANNOTATION_REBOOT_GRACE_PERIOD = `${KARPENTER_GROUP}/reboot-termination-grace-period`;

// Taints.
/** On a node that is being disrupted: no new pods are scheduled to it. */
export const TAINT_DISRUPTED: Taint = { key: `${KARPENTER_GROUP}/disrupted`, effect: 'NoSchedule' };
/** On a node that is not registered yet; its kubelet sets it. */
export const TAINT_UNREGISTERED: Taint = { key: `${KARPENTER_GROUP}/unregistered`, effect: 'NoExecute' };
/** On a node that reboots: no new pods are scheduled to it until it is back. */
export const TAINT_REBOOTING: Taint = { key: `${KARPENTER_GROUP}/rebooting`, effect: 'NoSchedule' };

/** Keeps a claim and its node until the machine is deleted. */
export const FINALIZER_TERMINATION = `${KARPENTER_GROUP}/termination`;
