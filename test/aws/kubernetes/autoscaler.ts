/** A program that runs the fleet of a cluster, and can be stopped and started again. */
export interface Autoscaler {
  readonly name: 'karpenter' | 'spindrift';
  start(): Promise<void>;
  /** As scaling its deployment to zero does. */
  stop(): Promise<void>;
  /** The process, for measuring it. */
  readonly pid: number | undefined;
  /** Why it is not running, if it ended by itself. */
  readonly failure: Error | undefined;
}
