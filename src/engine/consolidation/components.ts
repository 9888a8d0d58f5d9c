/** Cuts a finished state into the smallest exchanges that make sense by themselves: nodes whose pods share new nodes go together. */
import type { FleetState } from './fleet-state.ts';

/** Some nodes of the fleet go and some new ones come. */
export interface Component {
  readonly nodes: readonly number[];
  /** New nodes, by their number in the planned state. */
  readonly newNodes: readonly number[];
}

/** The exchanges that lead from the fleet to the planned state. */
export function componentsOf(state: FleetState): Component[] {
  const { compiled, podNode, existingCount, nodeCount, gone } = state;
  const parent = Int32Array.from({ length: nodeCount }, (_, node) => node);
  const find = (node: number): number => {
    let root = node;
    while (parent[root] !== root) root = parent[root] as number;
    parent[node] = root;
    return root;
  };
  compiled.podHome.forEach((home, pod) => {
    const node = podNode[pod] as number;
    if (node >= existingCount) parent[Math.max(find(home), find(node))] = Math.min(find(home), find(node));
  });
  const components = new Map<number, { nodes: number[]; newNodes: number[] }>();
  for (let node = 0; node < nodeCount; node++) {
    const isNew = node >= existingCount;
    if (isNew ? gone[node] === 1 : gone[node] === 0) continue;
    const root = find(node);
    const component = components.get(root) ?? { nodes: [], newNodes: [] };
    (isNew ? component.newNodes : component.nodes).push(node);
    components.set(root, component);
  }
  return [...components.values()];
}
