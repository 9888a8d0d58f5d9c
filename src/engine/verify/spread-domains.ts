import type { PodGroup, Problem, TopologySpread } from '../problem.ts';
import { holds, untolerated } from './label-rules.ts';
import { existingNode, HOSTNAME, mayMeet, openValues, type PlannedNode } from './planned-node.ts';
import { possibleNode } from './possible-node.ts';

/**
 * The domains a pod is spread over: those of existing nodes and those where a node could be launched, if the pod's node
 * affinity (and, if the policy says so, its tolerations) admits them. A domain without a node counts as empty.
 */
export function spreadDomains(
  problem: Problem,
  carrier: Partial<PodGroup>,
  { topologyKey, nodeAffinityPolicy, nodeTaintsPolicy }: TopologySpread,
): Set<string> {
  const domains = new Set<string>();
  // New hosts are always possible, so they are not listed.
  if (topologyKey === HOSTNAME) return domains;
  const affinity = nodeAffinityPolicy === 'Ignore' ? [] : (carrier.requirements ?? []);
  // Nodes without all of the pod's required spread keys do not count for it.
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
        // A label that only the pool restricts to a list can have each value of the list.
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
