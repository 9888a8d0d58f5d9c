import { type Condition, type KubeObject, resource } from './object.ts';

/** Resource name to quantity as written in a manifest: `{cpu: '500m', memory: '1Gi'}`. */
export type ResourceList = Readonly<Record<string, string>>;

export interface ResourceRequirements {
  readonly requests?: ResourceList;
  readonly limits?: ResourceList;
}

export interface ContainerPort {
  readonly name?: string;
  readonly containerPort: number;
  readonly hostPort?: number;
  readonly hostIP?: string;
  readonly protocol?: 'TCP' | 'UDP' | 'SCTP';
}

export interface Container {
  readonly name: string;
  readonly image?: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly ports?: readonly ContainerPort[];
  readonly resources?: ResourceRequirements;
  readonly lifecycle?: {
    readonly preStop?: {
      readonly sleep?: { readonly seconds: number };
      readonly exec?: { readonly command?: readonly string[] };
    };
  };
  /** `Always` on an init container makes it a sidecar. */
  readonly restartPolicy?: 'Always';
}

export interface Toleration {
  readonly key?: string;
  readonly operator?: 'Exists' | 'Equal' | 'Lt' | 'Gt';
  readonly value?: string;
  readonly effect?: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
  readonly tolerationSeconds?: number;
}

export interface NodeSelectorRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly NodeSelectorRequirement[];
  readonly matchFields?: readonly NodeSelectorRequirement[];
}

export interface LabelSelectorRequirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  readonly values?: readonly string[];
}

export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly LabelSelectorRequirement[];
}

export interface PodAffinityTerm {
  readonly labelSelector?: LabelSelector;
  readonly namespaces?: readonly string[];
  readonly namespaceSelector?: LabelSelector;
  readonly topologyKey: string;
  readonly matchLabelKeys?: readonly string[];
  readonly mismatchLabelKeys?: readonly string[];
}

export interface PodAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[];
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly {
    readonly weight: number;
    readonly podAffinityTerm: PodAffinityTerm;
  }[];
}

export interface NodeAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: { readonly nodeSelectorTerms: readonly NodeSelectorTerm[] };
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly {
    readonly weight: number;
    readonly preference: NodeSelectorTerm;
  }[];
}

export interface Affinity {
  readonly nodeAffinity?: NodeAffinity;
  readonly podAffinity?: PodAffinity;
  readonly podAntiAffinity?: PodAffinity;
}

export interface TopologySpreadConstraint {
  readonly maxSkew: number;
  readonly topologyKey: string;
  readonly whenUnsatisfiable: 'DoNotSchedule' | 'ScheduleAnyway';
  readonly labelSelector?: LabelSelector;
  readonly minDomains?: number;
  readonly nodeAffinityPolicy?: 'Honor' | 'Ignore';
  readonly nodeTaintsPolicy?: 'Honor' | 'Ignore';
  readonly matchLabelKeys?: readonly string[];
}

export interface Volume {
  readonly name: string;
  readonly persistentVolumeClaim?: { readonly claimName: string };
  readonly ephemeral?: { readonly volumeClaimTemplate?: object };
  readonly emptyDir?: object;
  readonly configMap?: object;
  readonly secret?: object;
  readonly hostPath?: object;
  readonly csi?: { readonly driver: string };
}

export interface PodSpec {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly nodeName?: string;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly affinity?: Affinity;
  readonly tolerations?: readonly Toleration[];
  readonly topologySpreadConstraints?: readonly TopologySpreadConstraint[];
  readonly volumes?: readonly Volume[];
  readonly priority?: number;
  readonly priorityClassName?: string;
  readonly preemptionPolicy?: string;
  readonly schedulerName?: string;
  readonly restartPolicy?: 'Always' | 'OnFailure' | 'Never';
  readonly terminationGracePeriodSeconds?: number;
  readonly activeDeadlineSeconds?: number;
  readonly overhead?: ResourceList;
  /** Pod-level resources. */
  readonly resources?: ResourceRequirements;
  /** Devices that are allocated to the pod. */
  readonly resourceClaims?: readonly { readonly name: string }[];
  readonly hostNetwork?: boolean;
  readonly serviceAccountName?: string;
  readonly schedulingGates?: readonly { readonly name: string }[];
}

export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';

export interface PodStatus {
  readonly phase?: PodPhase;
  readonly conditions?: readonly (Condition & { readonly lastProbeTime?: string | null })[];
  readonly reason?: string;
  readonly message?: string;
  readonly nominatedNodeName?: string;
  readonly startTime?: string;
  readonly hostIP?: string;
  readonly podIP?: string;
  readonly qosClass?: string;
  readonly containerStatuses?: readonly Readonly<Record<string, unknown>>[];
}

export interface Pod extends KubeObject {
  readonly spec: PodSpec;
  readonly status?: PodStatus;
}

export const PODS = resource<Pod>('v1', 'Pod', 'pods', 'namespaced');
