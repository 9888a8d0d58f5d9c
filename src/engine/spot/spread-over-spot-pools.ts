/**
 * Keeps a plan within the limits of a SpotPolicy. Of the offerings each new node can use, it chooses on-demand if more is
 * required, and another spot pool if one is full, at the least extra price. Fallback offerings are ordered so that the
 * limits are kept as long as possible. It never removes a node's last offering: limits that cannot be kept are reported.
 */
import { finish, type Slices } from '../packing/work.ts';
import type { NewNode, RankedOffering } from '../solution.ts';
import { leastCostSpread, type NodeClass } from './least-cost-spread.ts';
import { type FleetCounts, limitNothing, mostPerSpotPool, onDemandWanted, type SpotLimits } from './spot-limits.ts';
import { spotPoolKey } from './spot-pool.ts';

/** A NodePool and its limits. */
export interface PoolToSpread {
  readonly limits: SpotLimits;
  /** Its nodes that exist or are being launched and stay, without those of the plan. */
  readonly counts: FleetCounts;
  /** How many of the required on-demand nodes may be missing, because they were missing before. Default none. */
  readonly tolerated?: number;
  /** The name of the plan's instance type in the counts, if it differs. */
  cloudName?(instanceType: string): string;
  /** Whether the pool's own limits allow a node to be launched from this offering instead of its first. Default always. */
  allows?(node: NewNode, offering: RankedOffering): boolean;
}

/** A node that is launched differently because of the limits. */
export interface SpreadChange {
  /** Index of the node in the plan. */
  readonly node: number;
  readonly from: RankedOffering;
  readonly to: RankedOffering;
  readonly rule: 'on-demand' | 'spot-pool';
  /** For messages. */
  readonly sentence: string;
}

/** A limit that the plan violates. */
export interface SpreadGap {
  readonly pool: string;
  readonly rule: 'on-demand' | 'spot-pool';
  /** What the limit requires, for messages. */
  readonly limit: string;
  /** The limit, and how it is violated. */
  readonly sentence: string;
}

export interface SpreadResult<Node extends NewNode> {
  /** The same list if nothing changed. */
  readonly newNodes: readonly Node[];
  readonly changes: readonly SpreadChange[];
  readonly gaps: readonly SpreadGap[];
}

/** The place for on-demand; no spot pool has this name. */
const ON_DEMAND = 'on-demand';
/** Yields to the event loop after this many groups, since the offerings of each node are sorted again. */
const GROUPS_PER_SLICE = 20;

/** The plan's new nodes within the limits of their pools; pools without an entry have no limits. */
export function spreadOverSpotPools<Node extends NewNode>(
  newNodes: readonly Node[],
  pools: ReadonlyMap<string, PoolToSpread>,
): SpreadResult<Node> {
  return finish(spreadSteps(newNodes, pools));
}

/** Like `spreadOverSpotPools`, in slices. */
export function* spreadSteps<Node extends NewNode>(
  newNodes: readonly Node[],
  pools: ReadonlyMap<string, PoolToSpread>,
): Slices<SpreadResult<Node>> {
  const spread = [...newNodes];
  const changes: SpreadChange[] = [];
  const gaps: SpreadGap[] = [];
  let isSame = true;
  const numbers = newNodes.map((_, number) => number);
  for (const [name, ofPool] of Map.groupBy(numbers, (number) => newNodes[number]?.pool ?? '')) {
    const pool = pools.get(name);
    if (pool === undefined || limitNothing(pool.limits)) continue;
    const result = yield* spreadPool(name, pool, ofPool, newNodes);
    for (const [number, node] of result.nodes) spread[number] = node;
    isSame &&= result.nodes.size === 0;
    changes.push(...result.changes);
    gaps.push(...result.gaps);
  }
  return { newNodes: isSame ? newNodes : spread, changes, gaps };
}

interface SpreadOfPool<Node> {
  /** Nodes that differ from the plan, even if only in their fallback offerings. */
  readonly nodes: ReadonlyMap<number, Node>;
  readonly changes: readonly SpreadChange[];
  readonly gaps: readonly SpreadGap[];
}

function* spreadPool<Node extends NewNode>(
  name: string,
  pool: PoolToSpread,
  numbers: readonly number[],
  newNodes: readonly Node[],
): Slices<SpreadOfPool<Node>> {
  const { counts } = pool;
  const total = counts.nodes + numbers.length;
  const most = mostPerSpotPool(pool.limits, total);
  const wanted = Math.max(0, onDemandWanted(pool.limits, total) - (pool.tolerated ?? 0));
  // The engine gives identical nodes the same list.
  const alike = Map.groupBy(numbers, (number) => (newNodes[number] as Node).offerings);
  const groups: Group[] = [];
  for (const [[first], members] of alike) {
    if (first?.capacityType !== 'spot') continue;
    groups.push(toGroup(members, newNodes, pool));
    if (groups.length % GROUPS_PER_SLICE === 0) yield;
  }
  const settled = numbers.length - groups.reduce((sum, { members }) => sum + members.length, 0);
  const missing = wanted - counts.onDemand - settled;
  const room = (place: string): number => Math.max(0, most - (counts.spot.get(place) ?? 0));
  const at = yield* leastCostSpread(groups, { onDemand: ON_DEMAND, wanted: missing, room });

  const load = new Map<string, number>();
  for (const places of at) for (const [place, count] of places) load.set(place, (load.get(place) ?? 0) + count);
  const isFull = (place: string): boolean => (load.get(place) ?? 0) >= room(place);
  const spareOnDemand = counts.onDemand + settled + (load.get(ON_DEMAND) ?? 0) - wanted;
  /** Whether the limits are kept if a node at this place is launched from that offering instead. */
  const keepsLimits = (place: string, offering: RankedOffering): boolean => {
    const other = placeOf(offering, pool);
    return other === ON_DEMAND || (!isFull(other) && (place !== ON_DEMAND || spareOnDemand > 0));
  };

  const nodes = new Map<number, Node>();
  const changes: SpreadChange[] = [];
  let bought = 0;
  const put = (number: number, offerings: readonly RankedOffering[]): void => {
    const node = newNodes[number] as Node;
    if (offerings !== node.offerings)
      nodes.set(number, { ...node, offerings, price: offerings[0]?.price ?? node.price });
  };
  for (const [index, group] of groups.entries()) {
    if (index % GROUPS_PER_SLICE === 0) yield;
    const [from] = group.planned as [RankedOffering];
    for (const [place, members] of placesOf(group, at[index] as ReadonlyMap<string, number>)) {
      const to = place === group.start ? from : (group.offerings.get(place) as RankedOffering);
      const offerings = ranked(group.planned, to, (offering) => keepsLimits(place, offering));
      for (const number of members) put(number, offerings);
      if (place === group.start) continue;
      for (const node of members) {
        const rule = place === ON_DEMAND && ++bought <= missing ? 'on-demand' : 'spot-pool';
        const why =
          rule === 'on-demand'
            ? `${wanted} of the ${total} nodes of ${name} are to be on-demand`
            : `at most ${most} of the ${total} nodes of ${name} may be in one spot pool`;
        const sentence = `${text(to, pool)} instead of ${text(from, pool)}: ${why}`;
        changes.push({ node, from, to, rule, sentence });
      }
    }
  }
  for (const [planned, members] of alike) {
    const [first] = planned;
    if (first === undefined || first.capacityType === 'spot') continue;
    const offerings = ranked(planned, first, (offering) => keepsLimits(ON_DEMAND, offering));
    for (const number of members) put(number, offerings);
    yield;
  }
  const stillSpot = numbers.length - settled - (load.get(ON_DEMAND) ?? 0);
  return { nodes, changes, gaps: gapsOf(name, { total, most, wanted, missing, stillSpot, load, room }) };
}

/** Identical spot nodes, which can use the same offerings. */
interface Group extends NodeClass {
  /** Indices of nodes in the plan. */
  readonly members: readonly number[];
  /** In the engine's ranking. */
  readonly planned: readonly RankedOffering[];
  /** The offering used at each place. */
  readonly offerings: ReadonlyMap<string, RankedOffering>;
}

/** Groups identical nodes, with the cheapest offering at each place. Reserved slots are left to the nodes they were planned for. */
function toGroup(members: readonly number[], newNodes: readonly NewNode[], pool: PoolToSpread): Group {
  const node = newNodes[members[0] as number] as NewNode;
  const first = node.offerings[0] as RankedOffering;
  const offerings = new Map<string, RankedOffering>();
  const extra = new Map<string, number>();
  for (const offering of node.offerings) {
    if (offering.capacityType === 'reserved') continue;
    if (offering !== first && pool.allows?.(node, offering) === false) continue;
    const place = placeOf(offering, pool);
    const price = Math.max(0, offering.price - first.price);
    if (price >= (extra.get(place) ?? Number.POSITIVE_INFINITY)) continue;
    extra.set(place, price);
    offerings.set(place, offering);
  }
  return { members, planned: node.offerings, count: members.length, start: placeOf(first, pool), offerings, extra };
}

function placeOf({ capacityType, instanceType, zone }: RankedOffering, { cloudName }: PoolToSpread): string {
  if (capacityType !== 'spot') return ON_DEMAND;
  return spotPoolKey({ instanceType: cloudName?.(instanceType) ?? instanceType, zone });
}

/** Assigns members to places: as many as possible stay at their planned place, the others are spread over the other places. */
function placesOf({ members, start }: Group, at: ReadonlyMap<string, number>): [string, readonly number[]][] {
  const places = [...at].sort(([a], [b]) => Number(b === start) - Number(a === start) || (a < b ? -1 : 1));
  const others = [...members];
  return places.map(([place, count]) => [place, others.splice(0, count)]);
}

/** The offerings with the given one first and those that break the limits last; the same list if the order does not change. */
function ranked(
  planned: readonly RankedOffering[],
  first: RankedOffering,
  keepsLimits: (offering: RankedOffering) => boolean,
): readonly RankedOffering[] {
  const others = Map.groupBy(
    planned.filter((offering) => offering !== first),
    keepsLimits,
  );
  const offerings = [first, ...(others.get(true) ?? []), ...(others.get(false) ?? [])];
  return offerings.every((offering, index) => offering === planned[index]) ? planned : offerings;
}

interface Outcome {
  readonly total: number;
  readonly most: number;
  readonly wanted: number;
  readonly missing: number;
  /** New nodes that are launched as spot. */
  readonly stillSpot: number;
  readonly load: ReadonlyMap<string, number>;
  room(place: string): number;
}

const NOTHING_ELSE = 'nothing else that its NodePool allows holds their pods';
/** A SpotPolicy does not replace running nodes. */
const NOT_REPLACED = 'nodes that are there already stay as they are, and those launched later make up for it';

function gapsOf(pool: string, outcome: Outcome): SpreadGap[] {
  const { total, most, wanted, missing, stillSpot, load, room } = outcome;
  const gaps: SpreadGap[] = [];
  const short = missing - (load.get(ON_DEMAND) ?? 0);
  if (short > 0) {
    const limit = `${wanted} of the ${total} nodes of ${pool} are to be on-demand`;
    const stuck = Math.min(short, stillSpot);
    const whys = [
      ...(stuck > 0 ? [`${stuck} of them cannot be: ${NOTHING_ELSE}`] : []),
      ...(stuck < short ? [`${short - stuck} of them are not yet: ${NOT_REPLACED}`] : []),
    ];
    gaps.push({ pool, rule: 'on-demand', limit, sentence: `${limit}, ${whys.join(', and ')}` });
  }
  for (const [place, count] of load) {
    if (place === ON_DEMAND || count <= room(place)) continue;
    const limit = `at most ${most} of the ${total} nodes of ${pool} may be in one spot pool`;
    const sentence = `${limit}, ${place} gets ${count - room(place)} more: ${NOTHING_ELSE}`;
    gaps.push({ pool, rule: 'spot-pool', limit, sentence });
  }
  return gaps;
}

function text({ capacityType, instanceType, zone }: RankedOffering, { cloudName }: PoolToSpread): string {
  return `${capacityType} ${cloudName?.(instanceType) ?? instanceType} in ${zone}`;
}
