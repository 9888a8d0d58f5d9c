/**
 * What the engine is asked: the pods that need a place, the machines that exist, and those that could be bought.
 * Plain data that belongs to the engine. Whoever builds a problem has already parsed quantities (cpu in millicores,
 * everything else in its base unit: bytes, pieces), merged matchLabelKeys into selectors, and renamed alias label keys.
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

/** Conditions of which at least one list must hold; an empty list of lists means no condition. */
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

/** What keeps pods away from a node unless they tolerate it. */
export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
}

/** A pod's consent to taints, as Kubernetes spells it; no effect means all effects, no key with Exists means all taints. */
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
  /** Default Honor: only nodes that the pod's own node selection admits are counted. */
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

/** A term that is wished for, 1 to 100. */
export interface Weighted<Term> {
  readonly weight: number;
  readonly term: Term;
}

/**
 * Pods that are alike in everything the engine looks at. Pods are numbered by expanding the groups in order: the first
 * group's pods are 0 … count-1, the next group's follow. Groups that are alike need not be merged by the caller.
 */
export interface PodGroup {
  /** For errors and reasons, usually namespace/name. */
  readonly name: string;
  /** Default 1. */
  readonly count?: number;
  readonly namespace: string;
  readonly labels?: Labels;
  /** As the scheduler counts them; the one unit of `pods` is added by the engine. */
  readonly requests: Resources;
  /** Node selector and required node affinity: alternatives, each including the node selector. */
  readonly requirements?: Alternatives;
  /** The alternatives are tried in this order: a later one only when nothing can satisfy an earlier one. */
  readonly ordered?: boolean;
  /** How many consecutive alternatives share each step of the order: price decides among them. Default one each. */
  readonly stepSizes?: readonly number[];
  readonly preferredNodeAffinity?: readonly Weighted<readonly Requirement[]>[];
  readonly tolerations?: readonly Toleration[];
  readonly hostPorts?: readonly HostPort[];
  readonly topologySpread?: readonly TopologySpread[];
  readonly podAffinity?: readonly PodAffinityTerm[];
  readonly podAntiAffinity?: readonly PodAffinityTerm[];
  readonly preferredPodAffinity?: readonly Weighted<PodAffinityTerm>[];
  readonly preferredPodAntiAffinity?: readonly Weighted<PodAffinityTerm>[];
  /** Where the pod's volumes can be: alternatives. Not part of its node affinity, so spread counting does not see them. */
  readonly volumeRequirements?: Alternatives;
  /** Volumes the pod attaches, by CSI driver. */
  readonly volumeAttachments?: Readonly<Record<string, number>>;
  /** Higher is placed first when capacity is limited. Default 0. */
  readonly priority?: number;
}

/** A DaemonSet, as its pods will be on new nodes. */
export interface DaemonGroup {
  readonly name: string;
  /** Without one, no rule about other pods sees its pods. */
  readonly namespace?: string;
  readonly labels?: Labels;
  readonly requests: Resources;
  readonly requirements?: Alternatives;
  readonly tolerations?: readonly Toleration[];
  readonly hostPorts?: readonly HostPort[];
  readonly podAntiAffinity?: readonly PodAffinityTerm[];
}

/** Health and slots are two things: a full but healthy reservation stays in the list with 0 slots. */
export interface Offering {
  readonly zone: string;
  readonly capacityType: 'spot' | 'on-demand' | 'reserved';
  /** USD per hour; for reserved the on-demand price divided by 1000. */
  readonly price: number;
  /** Reserved only: offerings with the same id share one count of slots, over all types and pools. */
  readonly reservationId?: string;
  /** Default true; false while the offering is out of the market. */
  readonly healthy?: boolean;
  /** How many can be launched; absent means any number. */
  readonly slots?: number;
  /** Further labels of nodes launched from this offering. */
  readonly labels?: Labels;
}

/** A machine shape of a cloud. */
export interface InstanceType {
  readonly name: string;
  /**
   * Labels its nodes get. Zone, capacity type and the name of the type need not be repeated; a label for the name is for
   * types that are called otherwise in the problem, because two sellers have one of that name.
   */
  readonly labels?: Labels;
  /** For keys whose value is not fixed by the type, such as an operating system that can be chosen. */
  readonly requirements?: readonly Requirement[];
  readonly capacity: Resources;
  /** Kept back on each node; allocatable = capacity - overhead. */
  readonly overhead?: Resources;
  readonly offerings: readonly Offering[];
  /** Volumes that can be attached, by CSI driver; a driver that is not named has no limit. */
  readonly volumeAttachLimits?: Readonly<Record<string, number>>;
}

/** A node pool: from what and under which conditions new nodes can be made. */
export interface Pool {
  readonly name: string;
  /** Pools of higher weight are used first; price decides among equals. Default 0. */
  readonly weight?: number;
  readonly requirements?: readonly Requirement[];
  readonly labels?: Labels;
  readonly taints?: readonly Taint[];
  /** On the node until it is ready; pods need not tolerate them. */
  readonly startupTaints?: readonly Taint[];
  /** On the sum of the capacity of its nodes; `nodes` limits their number. Absent resources are not limited. */
  readonly limits?: Resources;
  /** What its nodes already take of the limits, with `nodes` as their number. */
  readonly usage?: Resources;
  /** Names of instance types it may use; absent means all. */
  readonly instanceTypes?: readonly string[];
  /** Default all. `reserved-or-on-demand` uses on-demand when no reserved slot is left. */
  readonly capacityTypePolicy?: 'all' | 'reserved-only' | 'reserved-or-on-demand';
}

/** A node that exists or is on its way. */
export interface ExistingNode {
  readonly name: string;
  /** The pool it came from, if any. */
  readonly pool?: string;
  readonly labels: Labels;
  readonly taints?: readonly Taint[];
  /** What pods can still take: allocatable less bound pods and daemons still to come. Includes `pods`. */
  readonly free: Resources;
  /** Launched but not ready yet: used after those that are ready. */
  readonly inFlight?: boolean;
  /** Cordoned or about to go: nothing is placed on it; its bound pods still count for topology. */
  readonly leaving?: boolean;
  /** Attachments still free, by CSI driver; a driver that is not named has no limit. */
  readonly freeVolumeAttachments?: Readonly<Record<string, number>>;
  /** Ports that pods hold there, and daemons still to come. */
  readonly usedHostPorts?: readonly HostPort[];
  /** Daemons still to come, by their number in the problem: pods that avoid them, or that they avoid, have no place there. */
  readonly daemonsToCome?: readonly number[];
}

/** A pod that already runs: it counts for topology and its anti-affinity keeps others away. */
export interface BoundPod {
  /** Name of an existing node of the problem. */
  readonly node: string;
  readonly namespace: string;
  readonly labels?: Labels;
  /** Pods that are alike on the same node. Default 1. */
  readonly count?: number;
  readonly podAntiAffinity?: readonly PodAffinityTerm[];
  /** It was told to leave: kube-scheduler counts it no longer in spreads, but still keeps those away that avoid it. */
  readonly ending?: boolean;
}

/** Everything one decision is made from. */
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

/** `fast` builds one plan; `balanced` goes on improving it until the deadline. */
export type Quality = 'fast' | 'balanced';

/** How hard to try. */
export interface SolveOptions {
  /** Default balanced. */
  readonly quality?: Quality;
  /** Balanced stops improving after this many milliseconds of `elapsedMs`. Default 1000. Needs `elapsedMs`. */
  readonly deadlineMs?: number;
  /** Milliseconds since the solve began, from the caller's clock. Without it only `maxSteps` limits the work. */
  readonly elapsedMs?: () => number;
  /**
   * Balanced stops improving after this many units of work: the deadline to use when equal input must give equal output.
   * Default 20 million (about a second) without `elapsedMs`, no limit with it.
   */
  readonly maxSteps?: number;
  /** How much dearer a placement may be to satisfy a preference, as a fraction of its price. Default 0.1. */
  readonly preferenceSlack?: number;
  /** Whether preferences are looked at. Default true. */
  readonly preferences?: boolean;
}
