/**
 * The input of the engine: pending pods, existing nodes, and the offerings that new nodes can be launched from. Plain data
 * owned by the engine. The builder of a problem has already parsed quantities (cpu in millicores, everything else in its
 * base unit: bytes, pieces), merged matchLabelKeys into selectors, and renamed alias label keys.
 */

/** Amounts by resource name: `cpu` in millicores, memory and storage in bytes, everything else in units. Never negative. */
export type Resources = Readonly<Record<string, number>>;

/** Labels of a pod, node, pool or namespace. */
export type Labels = Readonly<Record<string, string>>;

/** How a requirement compares a label with its values. */
export type Operator = 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt' | 'Gte' | 'Lte';

/** One condition on a node label; all conditions of a list must hold. */
export interface Requirement {
  readonly key: string;
  readonly operator: Operator;
  readonly values: readonly string[];
  /** Pools only: a new node must keep at least this many values of the key open among its candidate instance types. */
  readonly minValues?: number;
}

/** Alternative lists of conditions: at least one list must hold. An empty list of lists means no condition. */
export type Alternatives = readonly (readonly Requirement[])[];

/** Kubernetes label selector; an empty one selects everything, an absent one nothing. */
export interface LabelSelector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly SelectorExpression[];
}

/** One expression of a label selector. */
export interface SelectorExpression {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  readonly values?: readonly string[];
}

/** A node taint: pods that do not tolerate it are kept off the node. */
export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
}

/** A pod's toleration, as in Kubernetes: no effect means all effects, no key with Exists means all taints. */
export interface Toleration {
  readonly key?: string;
  readonly operator?: 'Exists' | 'Equal' | 'Gt' | 'Lt';
  readonly value?: string;
  readonly effect?: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
}

/** A port a pod takes on its node. An absent address means all addresses. */
export interface HostPort {
  readonly port: number;
  readonly protocol?: 'TCP' | 'UDP' | 'SCTP';
  readonly hostIP?: string;
}

/** Topology spread constraint of a pod. */
export interface TopologySpread {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly whenUnsatisfiable: 'DoNotSchedule' | 'ScheduleAnyway';
  readonly selector?: LabelSelector;
  readonly minDomains?: number;
  /** Default Honor: only nodes that match the pod's node selector and affinity are counted. */
  readonly nodeAffinityPolicy?: 'Honor' | 'Ignore';
  /** Default Ignore: tainted nodes are counted too. */
  readonly nodeTaintsPolicy?: 'Honor' | 'Ignore';
}

/** Pod affinity or anti-affinity term. Without namespaces and namespaceSelector it means the pod's own namespace. */
export interface PodAffinityTerm {
  readonly topologyKey: string;
  readonly selector?: LabelSelector;
  readonly namespaces?: readonly string[];
  readonly namespaceSelector?: LabelSelector;
}

/** A preferred term with its weight, 1 to 100. */
export interface Weighted<Term> {
  readonly weight: number;
  readonly term: Term;
}

/**
 * Pods that are identical in everything the engine looks at. Pods are numbered by expanding the groups in order: the first
 * group's pods are 0 … count-1, then the next group's. The caller need not merge identical groups.
 */
export interface PodGroup {
  /** Used in errors and reasons, usually namespace/name. */
  readonly name: string;
  /** Default 1. */
  readonly count?: number;
  readonly namespace: string;
  readonly labels?: Labels;
  /** Counted as kube-scheduler does. The engine adds the one unit of `pods`. */
  readonly requests: Resources;
  /** Node selector and required node affinity: alternatives, each including the node selector. */
  readonly requirements?: Alternatives;
  /** The alternatives are tried in this order: a later one only when nothing can satisfy an earlier one. */
  readonly ordered?: boolean;
  /** How many consecutive alternatives share each step of the order: price decides among them. Default one each. */
  readonly stepSizes?: readonly number[];
  readonly preferredNodeAffinity?: readonly Weighted<readonly Requirement[]>[];
  /**
   * Ranks the suitable nodes: nodes that meet the first list are tried first, then the second, and so on, then all other
   * nodes. It ranks existing and in-flight nodes only; it never changes which nodes are launched, or whether any is.
   */
  readonly preferredNodes?: Alternatives;
  readonly tolerations?: readonly Toleration[];
  readonly hostPorts?: readonly HostPort[];
  readonly topologySpread?: readonly TopologySpread[];
  readonly podAffinity?: readonly PodAffinityTerm[];
  readonly podAntiAffinity?: readonly PodAffinityTerm[];
  readonly preferredPodAffinity?: readonly Weighted<PodAffinityTerm>[];
  readonly preferredPodAntiAffinity?: readonly Weighted<PodAffinityTerm>[];
  /** Alternatives for where the pod's volumes are. Not part of its node affinity, so spread counting ignores them. */
  readonly volumeRequirements?: Alternatives;
  /** Volumes the pod attaches, by CSI driver. */
  readonly volumeAttachments?: Readonly<Record<string, number>>;
  /** Higher is placed first when capacity is limited. Default 0. */
  readonly priority?: number;
}

/** A DaemonSet, described by the pods it will run on new nodes. */
export interface DaemonGroup {
  readonly name: string;
  /** Without a namespace, pod affinity and spread rules ignore its pods. */
  readonly namespace?: string;
  readonly labels?: Labels;
  readonly requests: Resources;
  readonly requirements?: Alternatives;
  readonly tolerations?: readonly Toleration[];
  readonly hostPorts?: readonly HostPort[];
  readonly podAntiAffinity?: readonly PodAffinityTerm[];
}

/** One way to launch an instance type. Health and slots are separate: a full but healthy reservation stays listed with 0 slots. */
export interface Offering {
  readonly zone: string;
  readonly capacityType: 'spot' | 'on-demand' | 'reserved';
  /** USD per hour; for reserved the on-demand price divided by 1000. */
  readonly price: number;
  /** Reserved only: offerings with the same id share one count of slots, over all types and pools. */
  readonly reservationId?: string;
  /** Default true; false while the offering is unavailable, for example after a capacity error. */
  readonly healthy?: boolean;
  /** How many nodes can be launched; absent means unlimited. */
  readonly slots?: number;
  /** Further labels of nodes launched from this offering. */
  readonly labels?: Labels;
}

/** An instance type of a cloud. */
export interface InstanceType {
  readonly name: string;
  /**
   * Labels of its nodes. Zone, capacity type and the name of the type need not be repeated. An instance-type label is only
   * needed if the type has a different name in the problem, because two providers use the same name.
   */
  readonly labels?: Labels;
  /** For keys whose value the type does not fix, such as a choice of operating system. */
  readonly requirements?: readonly Requirement[];
  readonly capacity: Resources;
  /** Reserved on each node; allocatable = capacity - overhead. */
  readonly overhead?: Resources;
  readonly offerings: readonly Offering[];
  /** Volumes that can be attached, by CSI driver; an absent driver has no limit. */
  readonly volumeAttachLimits?: Readonly<Record<string, number>>;
}

/** A NodePool: its offerings, and the conditions on the nodes launched from it. */
export interface Pool {
  readonly name: string;
  /** Pools of higher weight are used first; price decides between equal weights. Default 0. */
  readonly weight?: number;
  readonly requirements?: readonly Requirement[];
  readonly labels?: Labels;
  readonly taints?: readonly Taint[];
  /** Removed once the node is ready, so pods need not tolerate them. */
  readonly startupTaints?: readonly Taint[];
  /** Limits on the total capacity of its nodes; `nodes` limits their number. Absent resources are not limited. */
  readonly limits?: Resources;
  /** The part of the limits its nodes already use, with `nodes` as their number. */
  readonly usage?: Resources;
  /** Names of instance types it may use; absent means all. */
  readonly instanceTypes?: readonly string[];
  /** Default all. `reserved-or-on-demand` uses on-demand when no reserved slot is left. */
  readonly capacityTypePolicy?: 'all' | 'reserved-only' | 'reserved-or-on-demand';
}

/** A node that exists or is being launched. */
export interface ExistingNode {
  readonly name: string;
  /** The pool it came from, if any. */
  readonly pool?: string;
  readonly labels: Labels;
  readonly taints?: readonly Taint[];
  /** Resources left for pods: allocatable less bound pods and the daemons that have not started yet. Includes `pods`. */
  readonly free: Resources;
  /** Launched but not ready yet: used after the ready nodes. */
  readonly inFlight?: boolean;
  /** Cordoned or about to be removed: nothing is placed on it, but its bound pods still count for topology. */
  readonly leaving?: boolean;
  /** Free attachments, by CSI driver; an absent driver has no limit. */
  readonly freeVolumeAttachments?: Readonly<Record<string, number>>;
  /** Ports used by its pods, and by daemons that have not started yet. */
  readonly usedHostPorts?: readonly HostPort[];
  /** Daemons that have not started yet, by index in the problem. Pods with anti-affinity to or from them cannot be placed here. */
  readonly daemonsToCome?: readonly number[];
}

/** A running pod: it counts for topology, and its anti-affinity keeps other pods away. */
export interface BoundPod {
  /** Name of an existing node of the problem. */
  readonly node: string;
  readonly namespace: string;
  readonly labels?: Labels;
  /** Number of identical pods on this node. Default 1. */
  readonly count?: number;
  readonly podAntiAffinity?: readonly PodAffinityTerm[];
  /** The pod is terminating: kube-scheduler no longer counts it in spreads, but pods with anti-affinity to it still avoid it. */
  readonly ending?: boolean;
}

/** The complete input of one solve. */
export interface Problem {
  readonly pods: readonly PodGroup[];
  readonly pools: readonly Pool[];
  readonly instanceTypes: readonly InstanceType[];
  readonly nodes?: readonly ExistingNode[];
  readonly boundPods?: readonly BoundPod[];
  readonly daemons?: readonly DaemonGroup[];
  /** Labels of namespaces by name, for namespace selectors. */
  readonly namespaces?: Readonly<Record<string, Labels>>;
}

/** `fast` builds one plan; `balanced` keeps improving it until the deadline. */
export type Quality = 'fast' | 'balanced';

/** Effort and preferences of a solve. */
export interface SolveOptions {
  /** Default balanced. */
  readonly quality?: Quality;
  /** Balanced stops improving after this many milliseconds of `elapsedMs`. Default 1000. Needs `elapsedMs`. */
  readonly deadlineMs?: number;
  /** Milliseconds since the solve began, from the caller's clock. Without it only `maxSteps` limits the work. */
  readonly elapsedMs?: () => number;
  /**
   * Balanced stops improving after this many units of work. Use it as the deadline when equal input must give equal
   * output. Default 20 million (about a second) without `elapsedMs`, no limit with it.
   */
  readonly maxSteps?: number;
  /** How much more a placement may cost to satisfy a preference, as a fraction of its price. Default 0.1. */
  readonly preferenceSlack?: number;
  /** Whether preferences are considered. Default true. */
  readonly preferences?: boolean;
}
