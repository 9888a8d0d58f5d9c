/**
 * A unit of disruption: one node, or all nodes that run pods of the same LeaderWorkerSet groups. A group restarts as a whole when one of its
 * pods is evicted, so its nodes are disrupted together and it restarts once. Pure.
 */
import type { StateNode } from '../../state/state-node.ts';
import { groupName, groupPods } from '../../state/worker-group.ts';
import type { Candidate, Refusal } from './candidate.ts';
import type { CommandReason } from './commands/command.ts';
import { DisjointSets } from './disjoint-sets.ts';
import type { Look } from './look.ts';

export interface Unit {
  /** The node that is due. */
  readonly first: Candidate;
  /** All nodes of the unit, `first` at the front. */
  readonly candidates: readonly Candidate[];
  /** The groups that connect the nodes, as `namespace/leader`; empty for a single node. */
  readonly groups: readonly string[];
}

/** How the nodes of groups are found and chosen. */
export interface UnitOptions {
  readonly look: Pick<Look, 'node' | 'podsOn' | 'podNamed' | 'budgets' | 'refuse'>;
  readonly reason: CommandReason;
  /** Decides about another node of a group: a candidate may go too, a refusal keeps the whole unit, undefined leaves the node out. */
  judge(state: StateNode): Candidate | Refusal | undefined;
  /** Whether a candidate is taken into the unit of `first`. */
  takes(candidate: Candidate, first: Candidate): boolean;
}

/** A unit of one node. */
export function alone(candidate: Candidate): Unit {
  return { first: candidate, candidates: [candidate], groups: [] };
}

/** All nodes of the units, in order. */
export function candidatesOf(units: readonly Unit[]): Candidate[] {
  return units.flatMap(({ candidates }) => candidates);
}

/**
 * The units of the due nodes, in order. A node that must stay keeps the other nodes of its groups, which is reported. Of overlapping units
 * only the first is returned.
 */
export function unitsOf(due: readonly Candidate[], options: UnitOptions): Unit[] {
  const units: Unit[] = [];
  const taken = new Set<string>();
  for (const first of due) {
    if (taken.has(first.state.name)) continue;
    const unit = unitOf(first, options);
    if ('why' in unit) options.look.refuse(unit);
    else if (!unit.candidates.some(({ state }) => taken.has(state.name))) {
      units.push(unit);
      for (const { state } of unit.candidates) taken.add(state.name);
    }
  }
  return units;
}

/** Splits the candidates of a command into units of those whose pods share a group. */
export function unitsAmong(candidates: readonly Candidate[]): Unit[] {
  const groupsOf = candidates.map(({ pods }) => new Set(pods.flatMap((pod) => groupName(pod) ?? [])));
  const together = new DisjointSets(candidates.length);
  const owner = new Map<string, number>();
  for (const [index, groups] of groupsOf.entries())
    for (const group of groups) {
      together.join([owner.get(group) ?? index, index]);
      owner.set(group, index);
    }
  const parts = Map.groupBy(candidates.keys(), (index) => together.rootOf(index));
  return [...parts.values()].map((indexes) => ({
    first: candidates[indexes[0] as number] as Candidate,
    candidates: indexes.map((index) => candidates[index] as Candidate),
    groups: [...new Set(indexes.flatMap((index) => [...(groupsOf[index] ?? [])]))],
  }));
}

/**
 * The nodes of the node's groups, of the groups that run on these, and so on. If the budgets could never allow that many, only the nodes of
 * its own groups: a chain of groups that share nodes must not take a whole pool at once.
 */
function unitOf(first: Candidate, options: UnitOptions): Unit | Refusal {
  const { look, reason } = options;
  const near = reached([first.state.name], look);
  if (near.groups.length === 0) return alone(first);
  let last = near;
  const all = [...near.nodes];
  const groups = new Set(near.groups);
  while (last.nodes.length > 0) {
    last = reached(last.nodes, look, new Set([first.state.name, ...all]), groups);
    all.push(...last.nodes);
    for (const group of last.groups) groups.add(group);
  }
  const others = new Map<string, Candidate>();
  for (const name of all) {
    const state = look.node(name);
    const judged = state && options.judge(state);
    if (judged === undefined) continue;
    if ('why' in judged) {
      const why = `it is disrupted together with ${name}, which runs pods of the same groups (${[...groups].join(', ')}): ${judged.why}`;
      return { refused: first.state, why };
    }
    if (options.takes(judged, first)) others.set(name, judged);
  }
  const whole = { first, candidates: [first, ...others.values()], groups: [...groups] };
  const isTooLarge = [...poolCounts(whole)].some(([pool, count]) => count > look.budgets.of(pool, reason).limit);
  if (!isTooLarge) return whole;
  return {
    first,
    candidates: [first, ...near.nodes.flatMap((name) => others.get(name) ?? [])],
    groups: near.groups,
  };
}

/** The number of nodes per pool in a unit. */
export function poolCounts({ candidates }: Pick<Unit, 'candidates'>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { pool } of candidates) {
    const name = pool.metadata.name ?? '';
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

/** The groups with pods on these nodes, and the other nodes with pods of these groups. */
function reached(
  from: readonly string[],
  look: UnitOptions['look'],
  known: ReadonlySet<string> = new Set(from),
  knownGroups: ReadonlySet<string> = new Set(),
): { readonly nodes: readonly string[]; readonly groups: readonly string[] } {
  const groups = new Set<string>();
  const nodes = new Set<string>();
  for (const pod of from.flatMap((name) => look.podsOn(name))) {
    const group = groupName(pod);
    if (group === undefined || groups.has(group) || knownGroups.has(group)) continue;
    groups.add(group);
    for (const { spec } of groupPods(pod, (key) => look.podNamed(key)))
      if (spec.nodeName && !known.has(spec.nodeName)) nodes.add(spec.nodeName);
  }
  return { nodes: [...nodes], groups: [...groups] };
}
