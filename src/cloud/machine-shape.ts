/** What a machine type of a cloud is and costs, as tables of facts say it, before a region, a node class or a driver adds to it. */
export interface MachineShape {
  readonly name: string;
  readonly family: string;
  readonly arch: 'amd64' | 'arm64';
  readonly vcpus: number;
  readonly memoryMib: number;
  readonly accelerator?: {
    readonly resource: 'nvidia.com/gpu' | 'amd.com/gpu';
    /** As the cloud's own label says it. */
    readonly model: string;
    readonly count: number;
  };
  /** USD per hour in the cheapest large region. */
  readonly onDemand: number;
  /** The same on the spot market: a typical price, as spot prices move. */
  readonly spot: number;
}

/** Rounds a price as price lists do. */
export function dollars(usd: number): number {
  return Math.round(usd * 1e6) / 1e6;
}
