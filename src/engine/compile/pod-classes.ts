/**
 * Gathers pods that are identical in everything the engine looks at into classes. A class is a kind (all conditions,
 * topology and labels) with a size (the requests), so that results for either are computed once for all classes that share
 * it.
 */
import type { Slices } from '../packing/work.ts';
import type { PodGroup, Problem } from '../problem.ts';
import { Interner } from './interner.ts';
import { PairIds } from './pair-ids.ts';
import { RecordIds, textOf } from './record-ids.ts';

const NOTHING = {};

/** One class: a representative group and the numbers of its pods. */
export interface PodMembers {
  readonly group: PodGroup;
  readonly groupIndex: number;
  readonly pods: Int32Array;
  readonly kind: number;
  readonly size: number;
}

/** The pods of a problem in classes. */
export interface GatheredPods {
  /** In an order that does not depend on the order of the pods. */
  readonly members: readonly PodMembers[];
  /** A representative of each kind, in the order of the classes. */
  readonly kinds: readonly PodGroup[];
  /** A representative of each size, in the order of the classes. */
  readonly sizes: readonly PodGroup[];
  readonly podCount: number;
  readonly groupStart: Int32Array;
}

/** Gathers the pods of a problem into classes. */
export function* gatherClasses(problem: Problem): Slices<GatheredPods> {
  const groups = problem.pods;
  const groupStart = new Int32Array(groups.length + 1);
  const classOfGroup = new Int32Array(groups.length);
  const names = new RecordIds();
  const requests = new RecordIds();
  const attachments = new RecordIds();
  const conditions = new Interner();
  const sizes = new PairIds();
  const kindIds = new PairIds();
  const classIds = new PairIds();
  const drafts: ClassDraft[] = [];
  for (let index = 0; index < groups.length; index++) {
    const group = groups[index] as PodGroup;
    const count = group.count ?? 1;
    groupStart[index + 1] = (groupStart[index] as number) + count;
    const name = names.id(group.namespace, group.labels ?? NOTHING);
    const request = requests.id('', group.requests);
    const condition = conditions.id(conditionKey(group));
    const kind = kindIds.id(name, condition);
    const id = classIds.id(kind, request);
    let draft = drafts[id];
    if (draft === undefined) {
      const size = sizes.id(attachments.id('', group.volumeAttachments ?? NOTHING), request);
      draft = { id, first: index, count: 0, name, request, condition, kind, size };
      drafts.push(draft);
    }
    classOfGroup[index] = id;
    draft.count += count;
    if ((index & 2047) === 2047) yield;
  }
  yield;
  const pods = drafts.map(({ count }) => new Int32Array(count));
  const filled = new Int32Array(drafts.length);
  for (let index = 0; index < groups.length; index++) {
    const id = classOfGroup[index] as number;
    const list = pods[id] as Int32Array;
    let at = filled[id] as number;
    for (let pod = groupStart[index] as number; pod < (groupStart[index + 1] as number); pod++) list[at++] = pod;
    filled[id] = at;
  }
  yield;
  const nameRank = ranks(names.texts);
  const requestRank = ranks(requests.texts);
  const conditionRank = ranks(conditions.names);
  drafts.sort(
    (a, b) =>
      (nameRank[a.name] as number) - (nameRank[b.name] as number) ||
      (requestRank[a.request] as number) - (requestRank[b.request] as number) ||
      (conditionRank[a.condition] as number) - (conditionRank[b.condition] as number),
  );
  const kindNumbers = new Renumbering(kindIds.size);
  const sizeNumbers = new Renumbering(sizes.size);
  const members = drafts.map(({ id, first, kind, size }) => {
    const group = groups[first] as PodGroup;
    return {
      group,
      groupIndex: first,
      pods: pods[id] as Int32Array,
      kind: kindNumbers.number(kind, group),
      size: sizeNumbers.number(size, group),
    };
  });
  return {
    members,
    kinds: kindNumbers.groups,
    sizes: sizeNumbers.groups,
    podCount: groupStart[groups.length] as number,
    groupStart,
  };
}

interface ClassDraft {
  readonly id: number;
  readonly first: number;
  count: number;
  readonly name: number;
  readonly request: number;
  readonly condition: number;
  readonly kind: number;
  readonly size: number;
}

/** Assigns new consecutive numbers in order of appearance, and keeps the first group of each. */
class Renumbering {
  readonly groups: PodGroup[] = [];
  readonly #numbers: Int32Array;

  constructor(size: number) {
    this.#numbers = new Int32Array(size).fill(-1);
  }

  number(old: number, group: PodGroup): number {
    if (this.#numbers[old] === -1) this.#numbers[old] = this.groups.push(group) - 1;
    return this.#numbers[old] as number;
  }
}

/** The alphabetical rank of each string. */
function ranks(names: readonly string[]): Int32Array {
  const order = names.map((_, index) => index).sort((a, b) => ((names[a] as string) < (names[b] as string) ? -1 : 1));
  const result = new Int32Array(names.length);
  order.forEach((index, rank) => {
    result[index] = rank;
  });
  return result;
}

/** A key of everything but names and requests; fields that most pods lack cost nothing. */
function conditionKey(group: PodGroup): string {
  let key = String(group.priority ?? 0);
  if (group.requirements !== undefined)
    key += `|r${group.ordered === true}${group.stepSizes ?? ''}${JSON.stringify(group.requirements)}`;
  if (group.tolerations !== undefined) key += `|t${JSON.stringify(group.tolerations)}`;
  if (group.topologySpread !== undefined) key += `|s${JSON.stringify(group.topologySpread)}`;
  if (group.podAffinity !== undefined) key += `|a${JSON.stringify(group.podAffinity)}`;
  if (group.podAntiAffinity !== undefined) key += `|x${JSON.stringify(group.podAntiAffinity)}`;
  if (group.hostPorts !== undefined) key += `|p${JSON.stringify(group.hostPorts)}`;
  if (group.volumeRequirements !== undefined) key += `|v${JSON.stringify(group.volumeRequirements)}`;
  if (group.volumeAttachments !== undefined) key += `|n${textOf(group.volumeAttachments)}`;
  if (group.preferredNodeAffinity !== undefined) key += `|R${JSON.stringify(group.preferredNodeAffinity)}`;
  if (group.preferredNodes !== undefined) key += `|N${JSON.stringify(group.preferredNodes)}`;
  if (group.preferredPodAffinity !== undefined) key += `|A${JSON.stringify(group.preferredPodAffinity)}`;
  if (group.preferredPodAntiAffinity !== undefined) key += `|X${JSON.stringify(group.preferredPodAntiAffinity)}`;
  return key;
}
