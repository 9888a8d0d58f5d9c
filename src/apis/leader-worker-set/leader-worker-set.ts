/** LeaderWorkerSet, leaderworkerset.x-k8s.io/v1, with the fields that are read. Spindrift never installs this kind. */
import { type KubeObject, resource } from '../kubernetes/object.ts';
import type { PodTemplateSpec } from '../kubernetes/workloads.ts';

export interface LeaderWorkerSet extends KubeObject {
  readonly spec: {
    /** How many groups there are. Default 1. */
    readonly replicas?: number;
    readonly leaderWorkerTemplate: {
      /** How many pods a group has, the leader included. Default 1. */
      readonly size?: number;
      readonly leaderTemplate?: PodTemplateSpec;
      readonly workerTemplate: PodTemplateSpec;
    };
  };
}

export const LEADER_WORKER_SETS = resource<LeaderWorkerSet>(
  'leaderworkerset.x-k8s.io/v1',
  'LeaderWorkerSet',
  'leaderworkersets',
  'namespaced',
);
