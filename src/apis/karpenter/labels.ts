/** The labels, annotations, taints and finalizers that Karpenter's users, tools and dashboards know. */
import type { Taint } from '../kubernetes/node.ts';

/** The group of the kinds in this folder, and the domain of their labels. */
export const KARPENTER_GROUP = 'karpenter.sh';

/** How a machine is paid for. */
export const CAPACITY_TYPES = ['reserved', 'spot', 'on-demand'] as const;
export type CapacityType = (typeof CAPACITY_TYPES)[number];

// Labels of Kubernetes that a requirement may speak of.
/** The zone a node is in. */
export const LABEL_ZONE = 'topology.kubernetes.io/zone';
/** The region a node is in. */
export const LABEL_REGION = 'topology.kubernetes.io/region';
/** The machine shape of a node, as its cloud calls it. */
export const LABEL_INSTANCE_TYPE = 'node.kubernetes.io/instance-type';
/** The processor architecture of a node: `amd64` or `arm64`. */
export const LABEL_ARCH = 'kubernetes.io/arch';
/** The operating system of a node: `linux` or `windows`. */
export const LABEL_OS = 'kubernetes.io/os';
/** The build of Windows on a node. */
export const LABEL_WINDOWS_BUILD = 'node.kubernetes.io/windows-build';
/** The name of a node, which nobody can ask for before there is one. */
export const LABEL_HOSTNAME = 'kubernetes.io/hostname';
/** Keeps a node out of load balancers; set to `karpenter` when the node starts to go. */
export const LABEL_EXCLUDE_FROM_BALANCERS = 'node.kubernetes.io/exclude-from-external-load-balancers';

// Labels of Karpenter.
/** The node pool that a claim and its node belong to. */
export const LABEL_NODE_POOL = `${KARPENTER_GROUP}/nodepool`;
/** How the machine of a claim or node is paid for: one of {@link CAPACITY_TYPES}. */
export const LABEL_CAPACITY_TYPE = `${KARPENTER_GROUP}/capacity-type`;
/** `true` on a node that has been registered. */
export const LABEL_REGISTERED = `${KARPENTER_GROUP}/registered`;
/** `true` on a node that has been initialised: it is ready and has all it promised. */
export const LABEL_INITIALIZED = `${KARPENTER_GROUP}/initialized`;
/** `true`, set by a node's own start-up, keeps registration from copying the claim's taints to it. */
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
/** On a pod: what its eviction costs, a 32 bit number; dearer pods keep their node longer. */
export const ANNOTATION_DISRUPTION_COST = `${KARPENTER_GROUP}/disruption-cost`;
/** The hash of the pool's template, on the pool and on each of its claims: where they differ, the claim has drifted. */
export const ANNOTATION_NODE_POOL_HASH = `${KARPENTER_GROUP}/nodepool-hash`;
/** How the hash was made; hashes of different versions are not compared, the claim is given the new one instead. */
export const ANNOTATION_NODE_POOL_HASH_VERSION = `${KARPENTER_GROUP}/nodepool-hash-version`;
/** When the pods of a claim's node are deleted without asking; RFC 3339. It only ever moves closer. */
export const ANNOTATION_TERMINATION_TIMESTAMP = `${KARPENTER_GROUP}/nodeclaim-termination-timestamp`;
/** Whether a pool's `minValues` had to be given up for a claim: `true` or `false`. */
export const ANNOTATION_MIN_VALUES_RELAXED = `${KARPENTER_GROUP}/nodeclaim-min-values-relaxed`;
/** The drivers of dynamic resources, separated by commas, that a claim's node must have before it is initialised. */
export const ANNOTATION_DRA_DRIVERS = `${KARPENTER_GROUP}/requested-dra-drivers`;
/** The boot ID a node had before it was told to restart. */
export const ANNOTATION_REBOOT_PRE_BOOT_ID = `${KARPENTER_GROUP}/reboot-pre-boot-id`;
/** How long pods have to leave before their node restarts. */
export const ANNOTATION_REBOOT_GRACE_PERIOD = `${KARPENTER_GROUP}/reboot-termination-grace-period`;

// Taints.
/** On a node that is going: nothing new comes to it. */
export const TAINT_DISRUPTED: Taint = { key: `${KARPENTER_GROUP}/disrupted`, effect: 'NoSchedule' };
/** On a node that is not registered yet; its own start-up sets it. */
export const TAINT_UNREGISTERED: Taint = { key: `${KARPENTER_GROUP}/unregistered`, effect: 'NoExecute' };
/** On a node that restarts: nothing new comes to it until it is back. */
export const TAINT_REBOOTING: Taint = { key: `${KARPENTER_GROUP}/rebooting`, effect: 'NoSchedule' };

/** Holds a claim, and its node, until the machine is gone. */
export const FINALIZER_TERMINATION = `${KARPENTER_GROUP}/termination`;
