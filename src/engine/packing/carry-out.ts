/** Turns patterns into nodes: opens them and places the pods, checking every placement against all rules. */
import type { PodClass } from '../compile/model.ts';
import type { DomainPlan } from '../topology/domain-plan.ts';
import type { PlacementState } from '../topology/placement-state.ts';
import type { Cover } from './greedy-cover.ts';
import type { Candidate, PackProblem, RowPart } from './pack-problem.ts';
import type { Pattern } from './pattern.ts';
import type { Packed } from './settle-cover.ts';
import type { Slices, Work } from './work.ts';

/** Nodes tried for a pod with rules about its neighbours before it is left for later. */
const PROBES = 48;

/** Places on nodes reserved for the pods of one row. */
interface Reserved {
  readonly nodes: number[];
  readonly places: number[];
  /** All positions before this one are used up. */
  first: number;
}

/** Opens the nodes of a cover and places as many pods on them as the rules allow. */
export function* carryOut(
  state: PlacementState,
  { pack, cover }: Packed,
  parts: readonly RowPart[],
  plan: DomainPlan,
  work: Work,
): Slices<void> {
  const from = state.nodeCount;
  const reserved = openNodes(state, pack, cover);
  yield;
  const partOf = new Map<number, number>();
  const cells = state.model.cellDomains.length;
  parts.forEach((part, index) => {
    if (part.cell >= 0) partOf.set(part.podClass.index * cells + part.cell, index);
  });
  const { classes } = state.model;
  for (let position = 0; position < plan.classes.length; position++) {
    const podClass = classes[plan.classes[position] as number] as PodClass;
    const part = partOf.get(podClass.index * cells + (plan.cells[position] as number));
    const row = part === undefined ? -1 : (pack.rowOfPart[part] as number);
    if (row >= 0) placeOne(state, podClass, reserved[row] as Reserved);
    if (work.spend(40)) yield;
  }
  const loose = parts
    .map((part, index) => ({ part, row: pack.rowOfPart[index] as number }))
    .filter(({ part, row }) => part.cell < 0 && row >= 0);
  // Pods with rules about their node first: pods placed later never make these placements illegal.
  const hostBound = loose
    .filter(({ part }) => part.podClass.hostBound)
    .map(({ part, row }) => ({ part, row, selfRules: selfRules(part.podClass) }));
  for (const { part, row } of hostBound.sort((a, b) => b.selfRules - a.selfRules)) {
    for (let count = 0; count < part.count; count++) {
      placeOne(state, part.podClass, reserved[row] as Reserved);
      if (work.spend(40)) yield;
    }
  }
  for (const { part, row } of loose.filter(({ part }) => !part.podClass.hostBound)) {
    placeMany(state, part.podClass, part.count, reserved[row] as Reserved);
    if (work.spend(40)) yield;
  }
  // A node whose pods were all refused is closed, and not offered to pods that would not have opened it.
  for (let node = from; node < state.nodeCount; node++) {
    if ((state.contents[node] as number[]).length === 0) state.close(node);
  }
}

function selfRules(podClass: PodClass): number {
  return podClass.topology.rules.filter((rule) => rule.self).length;
}

function openNodes(state: PlacementState, pack: PackProblem, cover: Cover): Reserved[] {
  const reserved: Reserved[] = pack.rows.map(() => ({ nodes: [], places: [], first: 0 }));
  cover.patterns.forEach((pattern: Pattern, index) => {
    const { option, filter } = pack.candidates[pattern.candidate] as Candidate;
    const times = Math.min(cover.times[index] as number, state.purse.affords(option));
    for (let time = 0; time < times; time++) {
      const node = state.open(option, filter);
      for (let i = 0; i < pattern.rows.length; i++) {
        const places = reserved[pattern.rows[i] as number] as Reserved;
        places.nodes.push(node);
        places.places.push(pattern.counts[i] as number);
      }
    }
  });
  return reserved;
}

function placeOne(state: PlacementState, podClass: PodClass, reserved: Reserved): boolean {
  const { nodes, places } = reserved;
  while (reserved.first < nodes.length && places[reserved.first] === 0) reserved.first++;
  let best = -1;
  let bestRegret = Number.POSITIVE_INFINITY;
  let probes = 0;
  for (let at = reserved.first; at < nodes.length && probes < PROBES; at++) {
    if (places[at] === 0) continue;
    probes++;
    const node = nodes[at] as number;
    if (state.room(podClass, node, 1) === 0 || !state.allows(podClass, node)) continue;
    const regret = podClass.topology.wishes.length === 0 ? 0 : state.regret(podClass, node);
    if (regret < bestRegret) {
      best = at;
      bestRegret = regret;
    }
    if (regret === 0) break;
  }
  if (best < 0) return false;
  state.place(podClass, nodes[best] as number, 1);
  places[best] = (places[best] as number) - 1;
  return true;
}

function placeMany(state: PlacementState, podClass: PodClass, count: number, reserved: Reserved): void {
  const { nodes, places } = reserved;
  let left = count;
  for (let at = reserved.first; at < nodes.length && left > 0; at++) {
    const node = nodes[at] as number;
    const fits = state.room(podClass, node, Math.min(left, places[at] as number));
    if (fits > 0) {
      state.place(podClass, node, fits);
      left -= fits;
      places[at] = (places[at] as number) - fits;
    }
    if (places[at] === 0 && at === reserved.first) reserved.first++;
  }
}
