/**
 * What a SpotPolicy asks for is kept by whatever we do of our own accord, wherever on-demand capacity can be had, which keeps every
 * policy: nodes that are launched make up for what is missing and crowd no spot pool, and those that go take no on-demand
 * node with them that is asked for. That the shares hold is not promised: machines are taken, people delete nodes, and nodes that
 * run are not replaced for a policy's sake. What is written together is judged together, as it was decided together.
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

/** What one look decides is written within that. */
const TOGETHER_MS = 2000;
/** A plan is made of what there was so long ago at most: reading, solving and writing take time. */
const LONGEST_ROUND_MS = 15_000;

/** What is written together. */
interface Wave {
  readonly began: number;
  last: number;
  readonly before: ReadonlyMap<string, FleetShares>;
  after: ReadonlyMap<string, FleetShares>;
  readonly launched: NodeClaim[];
  readonly going: { readonly claim: NodeClaim; readonly mark: Mark; readonly inUse: boolean }[];
  /** Something else changed the fleet at the same time, or it was decided before something else did. */
  disturbed: boolean;
}

/** Why nodes go that need not; the others must. */
const CHOSEN: readonly Mark['reason'][] = ['Empty', 'Underutilized'];

type Change = 'launched' | 'going' | 'disturbed';

export const spotShares: InvariantMaker = (facts, broken) => {
  const trouble = new SupplyTrouble(facts);
  let fleets: ReadonlyMap<string, FleetShares> = new Map();
  let wave: Wave | undefined;
  /** When something else last changed the fleet. */
  let disturbedAt = Number.NEGATIVE_INFINITY;
  /** Pools that had all on-demand nodes that are asked for when the trouble was over. */
  let whole: readonly string[] = [];

  /** Who must go goes without an on-demand node where the limits of its pool may leave no room for one beside it. */
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
        // Who must go and has no pods that need another place goes without a replacement.
        if (!inUse && !CHOSEN.includes(mark.reason))
          whole = whole.filter((pool) => pool !== claim.metadata.labels?.[LABEL_NODE_POOL]);
        // What it is replaced by was written long before; what was counted then is not what there is now.
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

/** What a write does to the fleet; undefined where that is nothing. */
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
  // Where nobody is left on a node that must go, there is nobody to launch another for.
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
  // That nothing ran on a node says nothing about how far pods are spread, and who must go goes.
  const chosen = reasons.size === 1 && reasons.has('Underutilized');
  if (chosen && excess(shares, is) >= 1 && excess(shares, is) > excess(shares, was))
    yield `pool ${pool} may have ${shares.perSpotPool} % of its nodes in one spot pool, which consolidation crowds: ${told}`;
}

function missing(shares: Shares, { nodes, onDemand }: FleetShares): number {
  return Math.max(0, onDemandAskedFor(shares, nodes) - onDemand);
}

/** Empty nodes do not count among those that on-demand nodes are kept for. */
function missingInUse(shares: Shares, { used, onDemand }: FleetShares): number {
  return Math.max(0, onDemandAskedFor(shares, used) - onDemand);
}

function isWhole(shares: Shares, fleet: FleetShares): boolean {
  return missingInUse(shares, fleet) === 0;
}

/** How many nodes the fullest spot pool has beyond its share, parts of nodes included: what cannot be divided evenly is less than one. */
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
