/** Counts the staying nodes of a NodePool by capacity type, and what they lack of its SpotPolicy: plain code, independent of the engine. */
import { LABEL_CAPACITY_TYPE, LABEL_INSTANCE_TYPE, LABEL_ZONE } from '../../src/apis/karpenter/labels.ts';
import type { NodeClaim } from '../../src/apis/karpenter/node-claim.ts';
import type { NodePool } from '../../src/apis/karpenter/node-pool.ts';
import { SPOT_POLICIES } from '../../src/apis/spindrift/spot-policy.ts';
import { ANNOTATION_OFFERINGS } from '../../src/state/planned-offerings.ts';
import { isClaimGoing } from '../../src/state/state-node.ts';
import type { Facts } from './facts.ts';

/** The requirements of a SpotPolicy. */
export interface Shares {
  readonly base: number;
  readonly percent: number;
  readonly perSpotPool: number;
}

/** The nodes of a pool that exist or are starting, and are not being removed. */
export interface FleetShares {
  readonly nodes: number;
  /** On-demand or reserved. */
  readonly onDemand: number;
  /** Nodes with pods other than DaemonSet pods, or still starting. */
  readonly used: number;
  /** By spot pool. */
  readonly spot: ReadonlyMap<string, number>;
}

/** The requirements on each pool whose policy has any and which can always be met, because the pool allows on-demand. */
export function sharesAskedFor(facts: Facts): ReadonlyMap<string, Shares> {
  const asked = new Map<string, Shares>();
  for (const pool of facts.pools) {
    // The drawn policies select by one label, and no two by the same.
    const policy = facts
      .list(SPOT_POLICIES)
      .find(({ spec }) => spec.nodePoolSelector?.matchLabels?.spot === pool.metadata.labels?.spot);
    if (policy === undefined || !sellsOnDemand(pool)) continue;
    const { onDemand, maxPercentPerSpotPool: perSpotPool } = policy.spec;
    asked.set(pool.metadata.name ?? '', { base: onDemand.base, percent: onDemand.percent, perSpotPool });
  }
  return asked;
}

function sellsOnDemand({ spec }: NodePool): boolean {
  const capacity = spec.template.spec.requirements.find(({ key }) => key === LABEL_CAPACITY_TYPE);
  return capacity?.values?.includes('on-demand') ?? true;
}

export function fleetShares(facts: Facts, pool: string): FleetShares {
  const spot = new Map<string, number>();
  const staying = facts.claimsOf(pool).filter((claim) => !isClaimGoing(claim));
  const spotPools = staying.map(spotPoolOf).filter((name) => name !== undefined);
  for (const name of spotPools) spot.set(name, (spot.get(name) ?? 0) + 1);
  const inUse = nodesInUse(facts);
  const used = staying.filter(({ status }) => status?.nodeName === undefined || inUse.has(status.nodeName)).length;
  return { nodes: staying.length, onDemand: staying.length - spotPools.length, used, spot };
}

/** Names of nodes with pods that are not terminating, other than DaemonSet and static pods. */
export function nodesInUse(facts: Facts): ReadonlySet<string | undefined> {
  const staying = facts.pods.filter(
    ({ metadata }) =>
      metadata.deletionTimestamp === undefined &&
      !metadata.ownerReferences?.some(({ kind }) => kind === 'DaemonSet' || kind === 'Node'),
  );
  return new Set(staying.map(({ spec }) => spec.nodeName));
}

/** The spot pool of a claim, actual or planned; undefined if it is not spot. */
export function spotPoolOf({ metadata }: NodeClaim): string | undefined {
  const [first = ''] = (metadata.annotations?.[ANNOTATION_OFFERINGS] ?? '').split(' ');
  const [plannedType, plannedZone, plannedCapacity] = first.split('/');
  const { labels = {} } = metadata;
  if ((labels[LABEL_CAPACITY_TYPE] ?? plannedCapacity) !== 'spot') return undefined;
  return `${labels[LABEL_INSTANCE_TYPE] ?? plannedType} in ${labels[LABEL_ZONE] ?? plannedZone}`;
}

/** The number of nodes that must be on-demand: the base, and a share of the rest, rounded up. */
export function onDemandAskedFor({ base, percent }: Shares, nodes: number): number {
  const first = Math.min(base, nodes);
  return first + Math.ceil(((nodes - first) * percent) / 100);
}

/** The number of nodes allowed in one spot pool: a share, rounded down, but at least one. */
export function mostInSpotPool({ perSpotPool }: Shares, nodes: number): number {
  return Math.max(1, Math.floor((nodes * perSpotPool) / 100));
}
