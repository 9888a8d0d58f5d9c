/** What is measured of one autoscaler under one load. */

export interface Phase {
  readonly pods: number;
  /** From the change of the load until each of its pods has run; for the second phase until the last change of the fleet. */
  readonly seconds: number;
  readonly nodes: number;
  readonly usdPerHour: number;
  /** No fleet for these pods costs less. */
  readonly lowerBound: number;
  /** Processor time of the autoscaler in this phase. */
  readonly cpuSeconds: number;
  /** Its peak memory since it was started. */
  readonly peakRssMb: number;
  /** Its requests to the API server in this phase. */
  readonly reads: number;
  readonly writes: number;
  /** Pods that had to move to another node. */
  readonly movedPods: number;
}

export interface Outcome {
  readonly autoscaler: string;
  readonly load: string;
  readonly up: Phase;
  /** After the Deployments were scaled to a fifth and nothing moved any more; absent when it was not asked for. */
  readonly down?: Phase;
}
