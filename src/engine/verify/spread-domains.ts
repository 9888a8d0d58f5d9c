import type { PodGroup, Problem, TopologySpread } from '../problem.ts';
import { holds, untolerated } from './label-rules.ts';
import { existingNode, HOSTNAME, mayMeet, openValues, type PlannedNode } from './planned-node.ts';
import { possibleNode } from './possible-node.ts';

/**
 * The domains over which a pod is spread: those of nodes that are there and those where a node could be made, as far as
 * the pod's node affinity (and, if asked, its tolerations) admits them. A domain without a node counts as empty.
 */
export function spreadDomains(
  problem: Problem,
  carrier: Partial<PodGroup>,
  { topologyKey, nodeAffinityPolicy, nodeTaintsPolicy }: TopologySpread,
): Set<string> {
  const domains = new Set<string>();
  // Hosts are without end, and nobody asks for their list.
  if (topologyKey === HOSTNAME) return domains;
  const affinity = nodeAffinityPolicy === 'Ignore' ? [] : (carrier.requirements ?? []);
  // Nodes that lack one of the keys a pod is spread over do not count for it at all.
  const keys = (carrier.topologySpread ?? [])
    .filter((other) => other.whenUnsatisfiable === 'DoNotSchedule')
    .map((other) => other.topologyKey);
  const admits = (node: PlannedNode) =>
    keys.every((key) => mayHave(node, key)) &&
    mayMeet(node, affinity) &&
    (nodeTaintsPolicy !== 'Honor' || untolerated(node.taints, carrier.tolerations).length === 0);

  for (const existing of problem.nodes ?? []) {
    const node = existingNode(existing, problem);
    const domain = node.labels.get(topologyKey);
    if (domain !== undefined && admits(node)) domains.add(domain);
  }
  for (const pool of problem.pools) {
    for (const type of problem.instanceTypes) {
      for (const offering of type.offerings) {
        const node = possibleNode(problem, pool, type, offering);
        if (node === undefined || !admits(node)) continue;
        const settled = node.labels.get(topologyKey);
        if (settled !== undefined) domains.add(settled);
        // A label that only the pool fixes to a list: each value of the list can be had.
        const conditions = affinity.flat().filter(({ key }) => key === topologyKey);
        for (const value of node.open.has(topologyKey) ? openValues(node, topologyKey, conditions) : []) {
          const listed = (node.open.get(topologyKey) ?? []).some(
            ({ operator, values }) => operator === 'In' && values.includes(value ?? ''),
          );
          const wanted =
            affinity.length === 0 ||
            affinity.some((all) => all.every((one) => one.key !== topologyKey || holds(one, value)));
          if (value !== undefined && listed && wanted) domains.add(value);
        }
      }
    }
  }
  return domains;
}

function mayHave(node: PlannedNode, key: string): boolean {
  return node.open.has(key) ? openValues(node, key, []).some((value) => value !== undefined) : node.labels.has(key);
}
