/** MachineDeployment and MachineSet, cluster.x-k8s.io: what we read of them in their v1beta1 and v1beta2 shapes. */
import type { Condition, KubeObject } from '../kubernetes/object.ts';
import type { LabelSelector } from '../kubernetes/pod.ts';
import type { MachineTemplate } from './machine.ts';

interface RolloutStrategy {
  readonly type?: 'RollingUpdate' | 'OnDelete';
}

export interface MachineDeployment extends KubeObject {
  readonly spec?: {
    readonly clusterName?: string;
    readonly replicas?: number;
    readonly selector?: LabelSelector;
    readonly template?: MachineTemplate;
    readonly paused?: boolean;
    /** v1beta1. */
    readonly strategy?: RolloutStrategy;
    /** v1beta2. */
    readonly rollout?: { readonly strategy?: RolloutStrategy };
  };
  readonly status?: {
    readonly replicas?: number;
    readonly observedGeneration?: number;
    readonly conditions?: readonly Condition[];
  };
}

export interface MachineSet extends KubeObject {
  readonly spec?: {
    readonly clusterName?: string;
    readonly replicas?: number;
    readonly selector?: LabelSelector;
    readonly template?: MachineTemplate;
  };
  readonly status?: { readonly replicas?: number; readonly observedGeneration?: number };
}

/** How a change of the template reaches machines; Cluster API's default replaces them one by one. */
export function rolloutStrategy({ spec }: MachineDeployment): 'RollingUpdate' | 'OnDelete' {
  return spec?.rollout?.strategy?.type ?? spec?.strategy?.type ?? 'RollingUpdate';
}
