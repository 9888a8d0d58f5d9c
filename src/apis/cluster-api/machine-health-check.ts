/** MachineHealthCheck, cluster.x-k8s.io: what we read of it in its v1beta1 and v1beta2 shapes. */
import { parseDuration } from '../kubernetes/go-duration.ts';
import type { KubeObject } from '../kubernetes/object.ts';
import type { LabelSelector } from '../kubernetes/pod.ts';

export interface MachineHealthCheck extends KubeObject {
  readonly spec?: {
    readonly clusterName?: string;
    readonly selector?: LabelSelector;
    /** v1beta1, a Go duration. */
    readonly nodeStartupTimeout?: string;
    /** v1beta2. */
    readonly checks?: { readonly nodeStartupTimeoutSeconds?: number };
  };
}

const DEFAULT_STARTUP_MS = 600_000;

/** A machine without a Node counts as unhealthy after this time; 0 means never. */
export function nodeStartupTimeoutMs({ spec }: MachineHealthCheck): number {
  const seconds = spec?.checks?.nodeStartupTimeoutSeconds;
  if (seconds !== undefined) return seconds * 1000;
  const text = spec?.nodeStartupTimeout;
  const nanoseconds = text === undefined ? undefined : parseDuration(text);
  return nanoseconds === undefined ? DEFAULT_STARTUP_MS : Number(nanoseconds / 1_000_000n);
}
