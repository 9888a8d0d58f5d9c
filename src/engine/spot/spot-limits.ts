/** How much of a NodePool may be spot, and how much of it in one spot pool. */

/** The rule, as written in the policy. */
export interface SpotLimits {
  /** This many nodes are on-demand or reserved first. */
  readonly onDemandBase: number;
  /** This percentage of the remaining nodes is on-demand or reserved too, rounded up. */
  readonly onDemandPercent: number;
  /** At most this percentage of all nodes is in one spot pool; one node is always allowed. */
  readonly maxPercentPerSpotPool: number;
}

/** The nodes of a NodePool that exist or are being launched, and stay. */
export interface FleetCounts {
  readonly nodes: number;
  /** On-demand or reserved. */
  readonly onDemand: number;
  /** By spot pool. */
  readonly spot: ReadonlyMap<string, number>;
}

/** A limit that a fleet violates. */
export type SpotShortfall =
  | { readonly rule: 'on-demand'; readonly wanted: number; readonly actual: number }
  | { readonly rule: 'spot-pool'; readonly spotPool: string; readonly most: number; readonly actual: number };

/** Limits that allow everything. */
export const NO_LIMITS: SpotLimits = { onDemandBase: 0, onDemandPercent: 0, maxPercentPerSpotPool: 100 };

/** How many of this many nodes must be on-demand or reserved. */
export function onDemandWanted({ onDemandBase, onDemandPercent }: SpotLimits, nodes: number): number {
  const base = Math.min(nodes, onDemandBase);
  return base + Math.ceil(((nodes - base) * onDemandPercent) / 100);
}

/** How many of this many nodes may be in one spot pool. */
export function mostPerSpotPool({ maxPercentPerSpotPool }: SpotLimits, nodes: number): number {
  return Math.max(1, Math.floor((nodes * maxPercentPerSpotPool) / 100));
}

/** Whether the limits allow everything. */
export function limitNothing({ onDemandBase, onDemandPercent, maxPercentPerSpotPool }: SpotLimits): boolean {
  return onDemandBase === 0 && onDemandPercent === 0 && maxPercentPerSpotPool >= 100;
}

/** The limits a fleet violates. */
export function spotShortfalls(limits: SpotLimits, { nodes, onDemand, spot }: FleetCounts): SpotShortfall[] {
  if (limitNothing(limits)) return [];
  const wanted = onDemandWanted(limits, nodes);
  const most = mostPerSpotPool(limits, nodes);
  const crowded = [...spot].filter(([, count]) => count > most);
  return [
    ...(onDemand < wanted ? [{ rule: 'on-demand', wanted, actual: onDemand } as const] : []),
    ...crowded.map(([spotPool, actual]) => ({ rule: 'spot-pool', spotPool, most, actual }) as const),
  ];
}
