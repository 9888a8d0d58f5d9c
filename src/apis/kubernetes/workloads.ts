/** The kinds that own pods. */
import { type Condition, type KubeObject, resource } from './object.ts';
import type { LabelSelector, PodSpec } from './pod.ts';
import type { PersistentVolumeClaim } from './volumes.ts';

export interface PodTemplateSpec {
  readonly metadata?: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: PodSpec;
}

/** A condition of a workload, with its last update time. */
export interface WorkloadCondition extends Condition {
  readonly lastUpdateTime?: string;
  readonly lastProbeTime?: string;
}

/** A count, or a share such as `25%`. */
export type IntOrPercent = number | string;

interface ReplicatedStatus {
  readonly replicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly updatedReplicas?: number;
  readonly observedGeneration?: number;
  readonly conditions?: readonly WorkloadCondition[];
}

export interface Deployment extends KubeObject {
  readonly spec: {
    readonly replicas?: number;
    readonly selector: LabelSelector;
    readonly template: PodTemplateSpec;
    readonly strategy?: {
      readonly type?: 'RollingUpdate' | 'Recreate';
      readonly rollingUpdate?: { readonly maxUnavailable?: IntOrPercent; readonly maxSurge?: IntOrPercent };
    };
    readonly paused?: boolean;
    readonly minReadySeconds?: number;
    readonly revisionHistoryLimit?: number;
    readonly progressDeadlineSeconds?: number;
  };
  readonly status?: ReplicatedStatus & {
    readonly unavailableReplicas?: number;
    readonly terminatingReplicas?: number;
    readonly collisionCount?: number;
  };
}

export interface ReplicaSet extends KubeObject {
  readonly spec: {
    readonly replicas?: number;
    readonly minReadySeconds?: number;
    readonly selector: LabelSelector;
    readonly template: PodTemplateSpec;
  };
  readonly status?: ReplicatedStatus & {
    readonly fullyLabeledReplicas?: number;
    readonly terminatingReplicas?: number;
  };
}

export interface StatefulSet extends KubeObject {
  readonly spec: {
    readonly replicas?: number;
    readonly selector: LabelSelector;
    readonly template: PodTemplateSpec;
    readonly serviceName?: string;
    readonly podManagementPolicy?: 'OrderedReady' | 'Parallel';
    readonly updateStrategy?: {
      readonly type?: 'RollingUpdate' | 'OnDelete';
      readonly rollingUpdate?: { readonly partition?: number; readonly maxUnavailable?: IntOrPercent };
    };
    readonly volumeClaimTemplates?: readonly PersistentVolumeClaim[];
    readonly minReadySeconds?: number;
    readonly revisionHistoryLimit?: number;
    readonly ordinals?: { readonly start?: number };
    readonly persistentVolumeClaimRetentionPolicy?: {
      readonly whenDeleted?: 'Retain' | 'Delete';
      readonly whenScaled?: 'Retain' | 'Delete';
    };
  };
  readonly status?: ReplicatedStatus & {
    readonly currentReplicas?: number;
    readonly currentRevision?: string;
    readonly updateRevision?: string;
    readonly collisionCount?: number;
  };
}

export interface DaemonSet extends KubeObject {
  readonly spec: {
    readonly selector: LabelSelector;
    readonly template: PodTemplateSpec;
    readonly updateStrategy?: {
      readonly type?: 'RollingUpdate' | 'OnDelete';
      readonly rollingUpdate?: { readonly maxUnavailable?: IntOrPercent; readonly maxSurge?: IntOrPercent };
    };
    readonly minReadySeconds?: number;
    readonly revisionHistoryLimit?: number;
  };
  readonly status?: {
    readonly currentNumberScheduled?: number;
    readonly desiredNumberScheduled?: number;
    readonly numberAvailable?: number;
    readonly numberMisscheduled?: number;
    readonly numberReady?: number;
    readonly numberUnavailable?: number;
    readonly updatedNumberScheduled?: number;
    readonly observedGeneration?: number;
    readonly collisionCount?: number;
  };
}

export interface Job extends KubeObject {
  readonly spec: {
    readonly parallelism?: number;
    readonly completions?: number;
    readonly completionMode?: 'NonIndexed' | 'Indexed';
    readonly backoffLimit?: number;
    readonly activeDeadlineSeconds?: number;
    readonly ttlSecondsAfterFinished?: number;
    readonly suspend?: boolean;
    readonly selector?: LabelSelector;
    readonly template: PodTemplateSpec;
  };
  readonly status?: {
    readonly active?: number;
    readonly ready?: number;
    readonly succeeded?: number;
    readonly failed?: number;
    readonly terminating?: number;
    readonly completedIndexes?: string;
    readonly startTime?: string;
    readonly completionTime?: string;
    readonly uncountedTerminatedPods?: object;
    readonly conditions?: readonly WorkloadCondition[];
  };
}

/** Creates a Job at each time of its schedule. */
export interface CronJob extends KubeObject {
  readonly spec: {
    /** Five fields of cron. */
    readonly schedule: string;
    readonly timeZone?: string;
    readonly startingDeadlineSeconds?: number;
    readonly concurrencyPolicy?: 'Allow' | 'Forbid' | 'Replace';
    readonly suspend?: boolean;
    readonly successfulJobsHistoryLimit?: number;
    readonly failedJobsHistoryLimit?: number;
    readonly jobTemplate: {
      readonly metadata?: {
        readonly labels?: Readonly<Record<string, string>>;
        readonly annotations?: Readonly<Record<string, string>>;
      };
      readonly spec: Job['spec'];
    };
  };
  readonly status?: {
    readonly active?: readonly { readonly name?: string; readonly uid?: string }[];
    readonly lastScheduleTime?: string;
    readonly lastSuccessfulTime?: string;
  };
}

/** A former template, for rolling back. */
export interface ControllerRevision extends KubeObject {
  readonly revision: number;
  readonly data?: unknown;
}

export const DEPLOYMENTS = resource<Deployment>('apps/v1', 'Deployment', 'deployments', 'namespaced');
export const REPLICA_SETS = resource<ReplicaSet>('apps/v1', 'ReplicaSet', 'replicasets', 'namespaced');
export const STATEFUL_SETS = resource<StatefulSet>('apps/v1', 'StatefulSet', 'statefulsets', 'namespaced');
export const DAEMON_SETS = resource<DaemonSet>('apps/v1', 'DaemonSet', 'daemonsets', 'namespaced');
export const JOBS = resource<Job>('batch/v1', 'Job', 'jobs', 'namespaced');
export const CRON_JOBS = resource<CronJob>('batch/v1', 'CronJob', 'cronjobs', 'namespaced');
export const CONTROLLER_REVISIONS = resource<ControllerRevision>(
  'apps/v1',
  'ControllerRevision',
  'controllerrevisions',
  'namespaced',
);
