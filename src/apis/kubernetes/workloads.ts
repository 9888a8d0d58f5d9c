/** The kinds that own pods. */
import { type KubeObject, resource } from './object.ts';
import type { LabelSelector, PodSpec } from './pod.ts';

export interface PodTemplateSpec {
  readonly metadata?: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: PodSpec;
}

interface ReplicatedStatus {
  readonly replicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly updatedReplicas?: number;
  readonly observedGeneration?: number;
}

export interface Deployment extends KubeObject {
  readonly spec: {
    readonly replicas?: number;
    readonly selector: LabelSelector;
    readonly template: PodTemplateSpec;
    readonly strategy?: Readonly<Record<string, unknown>>;
    readonly paused?: boolean;
  };
  readonly status?: ReplicatedStatus;
}

export interface DaemonSet extends KubeObject {
  readonly spec: { readonly selector: LabelSelector; readonly template: PodTemplateSpec };
  readonly status?: Readonly<Record<string, unknown>>;
}

export const DEPLOYMENTS = resource<Deployment>('apps/v1', 'Deployment', 'deployments', 'namespaced');
export const DAEMON_SETS = resource<DaemonSet>('apps/v1', 'DaemonSet', 'daemonsets', 'namespaced');
