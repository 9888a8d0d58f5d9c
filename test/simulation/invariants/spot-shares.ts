/**
 * Spindrift's own decisions keep the SpotPolicy of every pool that can use on-demand. Launches fill up missing on-demand nodes and do not
 * exceed the limit per spot pool; removals do not take required on-demand nodes. The shares themselves are not guaranteed: machines are
 * reclaimed, users delete nodes, and running nodes are not replaced to meet a policy. Writes of one decision are judged together.
 */
import { LABEL_CAPACITY_TYPE, LABEL_NODE_POOL } from '../../../src/apis/karpenter/labels.ts';
import type { NodeClaim } from '../../../src/apis/karpenter/node-claim.ts';
import { ANNOTATION_DISRUPTION, ANNOTATION_REPLACES } from '../../../src/apis/spindrift/annotations.ts';
import { type Mark, readMark } from '../../../src/controllers/disruption/commands/mark.ts';
import { isClaimGoing } from '../../../src/state/state-node.ts';
import {
  type FleetShares,
  fleetShares,
  mostInSpotPool,
  nodesInUse,
  onDemandAskedFor,
  type Shares,
  sharesAskedFor,
  spotPoolOf,
} from '../fleet-shares.ts';
import type { InvariantMaker } from '../invariant.ts';
import type { Write } from '../scribe.ts';
import { SupplyTrouble } from '../supply-trouble.ts';

/** Writes of one decision happen within this time. */
const TOGETHER_MS = 2000;
/** The longest age of the state that a plan is based on: reading, solving and writing take time. */
const LONGEST_ROUND_MS = 15_000;

/** The writes of one decision. */
interface Wave {
  readonly began: number;
  last: number;
  readonly before: ReadonlyMap<string, FleetShares>;
  after: ReadonlyMap<string, FleetShares>;
  readonly launched: NodeClaim[];
  readonly going: { readonly claim: NodeClaim; readonly mark: Mark; readonly inUse: boolean }[];
  /** Something else changed the fleet at the same time, or shortly before. */
  disturbed: boolean;
}

/** Reasons for voluntary removals; nodes with other reasons must be removed. */
const CHOSEN: readonly Mark['reason'][] = ['Empty', 'Underutilized'];

type Change = 'launched' | 'going' | 'disturbed';

export const spotShares: InvariantMaker = (facts, broken) => {
  const trouble = new SupplyTrouble(facts);
  let fleets: ReadonlyMap<string, FleetShares> = new Map();
  let wave: Wave | undefined;
  /** When something else last changed the fleet. */
  let disturbedAt = Number.NEGATIVE_INFINITY;
  /** Pools that had all required on-demand nodes when the faults ended. */
  let whole: readonly string[] = [];

  /** If a node must be removed and its pool has limits, there may be no room for an on-demand replacement beside it. */
  const isAtLimits = (pool: string, { going }: Wave): boolean =>
    going.some(({ mark }) => !CHOSEN.includes(mark.reason)) &&
    facts.pools.some(({ metadata, spec }) => metadata.name === pool && spec.limits !== undefined);

  const close = (): void => {
    if (wave === undefined || facts.now - wave.last < TOGETHER_MS) return;
    const { before, after } = wave;
    const limited = (pool: string): boolean => wave !== undefined && isAtLimits(pool, wave);
    whole = whole.filter((pool) => !limited(pool));
    if (!wave.disturbed && !trouble.lately(wave.began))
      for (const [pool, shares] of sharesAskedFor(facts)) {
        const [was, is] = [before.get(pool), after.get(pool)];
        if (was !== undefined && is !== undefined && !limited(pool))
          for (const sentence of misses(pool, shares, was, is, wave)) broken(sentence);
      }
    wave = undefined;
  };
  return {
    happens(deed) {
      trouble.happens(deed);
    },
    written(write) {
      if (facts.plan.policies.length === 0 || write.collection !== 'nodeclaims.karpenter.sh') return;
      close();
      const before = fleets;
      fleets = new Map(facts.pools.map(({ metadata: { name = '' } }) => [name, fleetShares(facts, name)]));
      const change = changeOf(write);
      if (change === undefined) return;
      const disturbed = facts.now - disturbedAt < LONGEST_ROUND_MS;
      wave ??= { began: facts.now, last: 0, before, after: fleets, launched: [], going: [], disturbed };
      wave.last = facts.now;
      wave.after = fleets;
      const claim = write.object as NodeClaim;
      if (change === 'launched') wave.launched.push(claim);
      const mark = readMark(claim.metadata.annotations?.[ANNOTATION_DISRUPTION]);
      if (change === 'going' && mark !== undefined) {
        const inUse = nodesInUse(facts).has(claim.status?.nodeName);
        wave.going.push({ claim, mark, inUse });
        // A node that must be removed and has no pods to reschedule gets no replacement.
        if (!inUse && !CHOSEN.includes(mark.reason))
          whole = whole.filter((pool) => pool !== claim.metadata.labels?.[LABEL_NODE_POOL]);
        // Its replacement was created long before, from counts that no longer apply.
        wave.disturbed ||= mark.at < wave.began - TOGETHER_MS;
      }
      if (change === 'disturbed') disturbedAt = facts.now;
      wave.disturbed ||= change === 'disturbed';
    },
    minute: close,
    mended() {
      whole = [...sharesAskedFor(facts)]
        .filter(([pool, shares]) => isWhole(shares, fleetShares(facts, pool)))
        .map(([pool]) => pool);
    },
    rested() {
      for (const [pool, shares] of sharesAskedFor(facts)) {
        const fleet = fleetShares(facts, pool);
        if (whole.includes(pool) && !isWhole(shares, fleet))
          broken(
            `pool ${pool} had the on-demand nodes that its SpotPolicy asks for, and after two hours of rest has ${fleet.onDemand} of ${fleet.nodes}`,
          );
      }
    },
  };
};

/** The effect of a write on the fleet; undefined for none. */
function changeOf({ type, object, previous, verb }: Write): Change | undefined {
  const claim = object as NodeClaim;
  const before = previous as NodeClaim | undefined;
  if (type === 'ADDED') return verb === 'create' ? 'launched' : 'disturbed';
  const stayed = before !== undefined && !isClaimGoing(before);
  if (type === 'DELETED') return stayed ? 'disturbed' : undefined;
  const stays = !isClaimGoing(claim);
  if (stayed && stays) return spotPoolOf(claim) === spotPoolOf(before) ? undefined : 'disturbed';
  if (stayed === stays) return undefined;
  const marked = claim.metadata.annotations?.[ANNOTATION_DISRUPTION] !== undefined;
  return !stays && marked && verb === 'patch' ? 'going' : 'disturbed';
}

function* misses(pool: string, shares: Shares, was: FleetShares, is: FleetShares, wave: Wave): Iterable<string> {
  const launched = wave.launched.filter(({ metadata }) => metadata.labels?.[LABEL_NODE_POOL] === pool);
  const going = wave.going.filter(({ claim }) => claim.metadata.labels?.[LABEL_NODE_POOL] === pool);
  if (launched.length === 0 && going.length === 0) return;
  const told = `${[...launched.map(newcomer), ...going.map(leaver)].join(', ')}; there were ${inWords(was)}, and are ${inWords(is)}`;
  const wanted = onDemandAskedFor(shares, is.nodes);
  // A node that must be removed and has no pods needs no replacement.
  const forsaken = going.some(({ mark, inUse }) => !inUse && !CHOSEN.includes(mark.reason));
  if (!forsaken && missing(shares, is) > missing(shares, was) && missingInUse(shares, is) > missingInUse(shares, was))
    yield `pool ${pool} is to have ${wanted} of ${is.nodes} nodes on demand and lacks more of them than before: ${told}`;
  const reasons = new Set(wave.going.map(({ mark }) => mark.reason));
  if (reasons.size === 0) {
    const spot = launched.filter((claim) => spotPoolOf(claim) !== undefined);
    if (is.onDemand < wanted && spot.length > 0)
      yield `pool ${pool} is to have ${wanted} of ${is.nodes} nodes on demand, and spot is launched for pods: ${told}`;
    for (const name of new Set(spot.map(spotPoolOf)))
      if ((is.spot.get(name ?? '') ?? 0) > mostInSpotPool(shares, is.nodes))
        yield `pool ${pool} may have ${mostInSpotPool(shares, is.nodes)} of ${is.nodes} nodes in one spot pool, and more are launched for pods: ${told}`;
  }
  // Removing empty nodes does not change how pods are spread, and forced removals are allowed.
  const chosen = reasons.size === 1 && reasons.has('Underutilized');
  if (chosen && excess(shares, is) >= 1 && excess(shares, is) > excess(shares, was))
    yield `pool ${pool} may have ${shares.perSpotPool} % of its nodes in one spot pool, which consolidation crowds: ${told}`;
}

function missing(shares: Shares, { nodes, onDemand }: FleetShares): number {
  return Math.max(0, onDemandAskedFor(shares, nodes) - onDemand);
}

/** On-demand nodes are required in proportion to used nodes; empty nodes do not count. */
function missingInUse(shares: Shares, { used, onDemand }: FleetShares): number {
  return Math.max(0, onDemandAskedFor(shares, used) - onDemand);
}

function isWhole(shares: Shares, fleet: FleetShares): boolean {
  return missingInUse(shares, fleet) === 0;
}

/** By how many nodes the fullest spot pool exceeds its share, with fractions: rounding alone explains less than one. */
function excess({ perSpotPool }: Shares, { nodes, spot }: FleetShares): number {
  const fullest = Math.max(0, ...spot.values());
  return fullest <= 1 ? 0 : Math.max(0, fullest - (nodes * perSpotPool) / 100);
}

function newcomer(claim: NodeClaim): string {
  const replaces = claim.metadata.annotations?.[ANNOTATION_REPLACES];
  return `${claim.metadata.name} comes (${spotPoolOf(claim) ?? 'on demand'}${replaces === undefined ? '' : ` for ${replaces}`})`;
}

function leaver({ claim, mark }: Wave['going'][number]): string {
  return `${claim.metadata.name} goes (${claim.metadata.labels?.[LABEL_CAPACITY_TYPE]}, ${mark.reason}, ${mark.id})`;
}

function inWords({ nodes, onDemand, used, spot }: FleetShares): string {
  const pools = [...spot].map(([name, count]) => `${count} ${name}`);
  return `${nodes} nodes (${used} in use, ${onDemand} on demand${pools.map((pool) => `, ${pool}`).join('')})`;
}
