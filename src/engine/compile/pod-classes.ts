/** Pods that are alike in everything the engine looks at, gathered into classes. */
import type { Slices } from '../packing/work.ts';
import type { PodGroup, Problem } from '../problem.ts';

/** One class: a representative group and the numbers of its pods. */
export interface PodMembers {
  readonly key: string;
  readonly group: PodGroup;
  readonly groupIndex: number;
  readonly pods: Int32Array;
}

/** Gathers the pods of a problem into classes, in an order that does not depend on the order of the pods. */
export function* gatherClasses(
  problem: Problem,
): Slices<{ members: PodMembers[]; podCount: number; groupStart: Int32Array }> {
  const groups = problem.pods;
  const groupStart = new Int32Array(groups.length + 1);
  const classOfGroup = new Int32Array(groups.length);
  const ids = new Map<string, number>();
  const keys: string[] = [];
  const first: number[] = [];
  const counts: number[] = [];
  for (let index = 0; index < groups.length; index++) {
    const group = groups[index] as PodGroup;
    const count = group.count ?? 1;
    groupStart[index + 1] = (groupStart[index] as number) + count;
    const key = classKey(group);
    let id = ids.get(key);
    if (id === undefined) {
      id = keys.length;
      ids.set(key, id);
      keys.push(key);
      first.push(index);
      counts.push(0);
    }
    classOfGroup[index] = id;
    counts[id] = (counts[id] as number) + count;
    if ((index & 2047) === 2047) yield;
  }
  yield;
  const pods = counts.map((count) => new Int32Array(count));
  const filled = new Int32Array(keys.length);
  for (let index = 0; index < groups.length; index++) {
    const id = classOfGroup[index] as number;
    const list = pods[id] as Int32Array;
    let at = filled[id] as number;
    for (let pod = groupStart[index] as number; pod < (groupStart[index + 1] as number); pod++) list[at++] = pod;
    filled[id] = at;
  }
  yield;
  const members = keys.map((key, id) => ({
    key,
    group: groups[first[id] as number] as PodGroup,
    groupIndex: first[id] as number,
    pods: pods[id] as Int32Array,
  }));
  members.sort((a, b) => (a.key < b.key ? -1 : 1));
  return { members, podCount: groupStart[groups.length] as number, groupStart };
}

/** Everything the engine looks at, in one string; the fields most pods lack cost nothing. */
function classKey(group: PodGroup): string {
  let key = `${group.namespace}|${record(group.labels)}|${record(group.requests)}|${group.priority ?? 0}`;
  if (group.requirements !== undefined) key += `|r${group.ordered === true}${JSON.stringify(group.requirements)}`;
  if (group.tolerations !== undefined) key += `|t${JSON.stringify(group.tolerations)}`;
  if (group.topologySpread !== undefined) key += `|s${JSON.stringify(group.topologySpread)}`;
  if (group.podAffinity !== undefined) key += `|a${JSON.stringify(group.podAffinity)}`;
  if (group.podAntiAffinity !== undefined) key += `|x${JSON.stringify(group.podAntiAffinity)}`;
  if (group.hostPorts !== undefined) key += `|p${JSON.stringify(group.hostPorts)}`;
  if (group.volumeRequirements !== undefined) key += `|v${JSON.stringify(group.volumeRequirements)}`;
  if (group.volumeAttachments !== undefined) key += `|n${record(group.volumeAttachments)}`;
  if (group.preferredNodeAffinity !== undefined) key += `|R${JSON.stringify(group.preferredNodeAffinity)}`;
  if (group.preferredPodAffinity !== undefined) key += `|A${JSON.stringify(group.preferredPodAffinity)}`;
  if (group.preferredPodAntiAffinity !== undefined) key += `|X${JSON.stringify(group.preferredPodAntiAffinity)}`;
  return key;
}

function record(values: Readonly<Record<string, string | number>> | undefined): string {
  if (values === undefined) return '';
  const keys = Object.keys(values);
  if (keys.length > 1) keys.sort();
  let text = '';
  for (const key of keys) text += `${key}=${values[key]};`;
  return text;
}
