/** How much of a node pool may be spot, and how much of it in one spot pool. */

/** The rule, as a policy writes it. */
export interface SpotLimits {
  /** The first so many nodes are on-demand or reserved. */
  readonly onDemandBase: number;
  /** And so many percent of the others, rounded up. */
  readonly onDemandPercent: number;
  /** At most so many percent of all nodes are in one spot pool; one always may be. */
  readonly maxPercentPerSpotPool: number;
}

/** The nodes of a node pool that are there or on their way, and stay. */
export interface FleetCounts {
  readonly nodes: number;
  /** On-demand or reserved. */
  readonly onDemand: number;
  /** By spot pool. */
  readonly spot: ReadonlyMap<string, number>;
}

/** A rule that a fleet does not keep. */
export type SpotShortfall =
  | { readonly rule: 'on-demand'; readonly wanted: number; readonly actual: number }
  | { readonly rule: 'spot-pool'; readonly spotPool: string; readonly most: number; readonly actual: number };

/** Limits that limit nothing. */
export const NO_LIMITS: SpotLimits = { onDemandBase: 0, onDemandPercent: 0, maxPercentPerSpotPool: 100 };

/** How many of so many nodes are to be on-demand or reserved. */
export function onDemandWanted({ onDemandBase, onDemandPercent }: SpotLimits, nodes: number): number {
  const base = Math.min(nodes, onDemandBase);
  return base + Math.ceil(((nodes - base) * onDemandPercent) / 100);
}

/** How many of so many nodes may be in one spot pool. */
export function mostPerSpotPool({ maxPercentPerSpotPool }: SpotLimits, nodes: number): number {
  return Math.max(1, Math.floor((nodes * maxPercentPerSpotPool) / 100));
}

/** Whether the limits ask for nothing. */
export function limitNothing({ onDemandBase, onDemandPercent, maxPercentPerSpotPool }: SpotLimits): boolean {
  return onDemandBase === 0 && onDemandPercent === 0 && maxPercentPerSpotPool >= 100;
}

/** What of the limits a fleet does not keep. */
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
