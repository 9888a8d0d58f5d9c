/**
 * Splits a planned state into the smallest exchanges that pay for themselves. Nodes that left in one step and their
 * replacements belong together. Pods may also land on new nodes of another exchange, which is then done first. Empty nodes
 * are removed separately.
 */
import type { FleetState } from './fleet-state.ts';

/** An exchange: some nodes of the fleet are removed and some new ones are launched. */
export interface Component {
  readonly nodes: readonly number[];
  /** New nodes, by their index in the planned state. */
  readonly newNodes: readonly number[];
}

/** Groups of nodes that were removed or launched together (union-find). */
export class Together {
  readonly #parent = new Map<number, number>();

  /** The representative of this node's group. */
  root(node: number): number {
    let root = node;
    for (let up = this.#parent.get(root); up !== undefined; up = this.#parent.get(root)) root = up;
    if (root !== node) this.#parent.set(node, root);
    return root;
  }

  /** Merges the groups of these nodes. */
  join(nodes: readonly number[]): void {
    for (const node of nodes) {
      const [low, high] = [this.root(nodes[0] as number), this.root(node)].sort((a, b) => a - b) as [number, number];
      if (low !== high) this.#parent.set(high, low);
    }
  }
}

/** The exchanges that lead from the fleet to the planned state. */
export function componentsOf(state: FleetState, together: Together): Component[] {
  joinCycles(state, together);
  const { existingCount, nodeCount, gone } = state;
  const components = new Map<number, { nodes: number[]; newNodes: number[] }>();
  for (let node = 0; node < nodeCount; node++) {
    const isNew = node >= existingCount;
    if (isNew ? gone[node] === 1 : gone[node] === 0) continue;
    const root = together.root(node);
    const component = components.get(root) ?? { nodes: [], newNodes: [] };
    (isNew ? component.newNodes : component.nodes).push(node);
    components.set(root, component);
  }
  // Nodes that need no replacement can be removed one by one.
  return [...components.values()].flatMap((component) =>
    component.newNodes.length > 0 ? [component] : component.nodes.map((node) => ({ nodes: [node], newNodes: [] })),
  );
}

/** Exchanges that wait for each other can only be done as one. */
function joinCycles({ compiled, podNode, existingCount }: FleetState, together: Together): void {
  const needs = new Map<number, Set<number>>();
  compiled.podHome.forEach((home, pod) => {
    const node = podNode[pod] as number;
    if (node < existingCount) return;
    const [from, to] = [together.root(home), together.root(node)];
    if (from === to) return;
    const known = needs.get(from);
    if (known === undefined) needs.set(from, new Set([to]));
    else known.add(to);
  });
  for (const cycle of cycles(needs)) together.join(cycle);
}

/** Groups of vertices that can all reach each other (Tarjan's algorithm, without recursion). */
function cycles(edges: ReadonlyMap<number, ReadonlySet<number>>): number[][] {
  const found = new Map<number, { index: number; low: number; open: boolean }>();
  const stack: number[] = [];
  const result: number[][] = [];
  const visit = (vertex: number): { vertex: number; next: Iterator<number> } => {
    found.set(vertex, { index: found.size, low: found.size, open: true });
    stack.push(vertex);
    return { vertex, next: (edges.get(vertex) ?? new Set<number>()).values() };
  };
  for (const start of edges.keys()) {
    if (found.has(start)) continue;
    const path = [visit(start)];
    while (path.length > 0) {
      const { vertex, next } = path[path.length - 1] as (typeof path)[0];
      const mine = found.get(vertex) as { index: number; low: number; open: boolean };
      const step = next.next();
      if (step.done !== true) {
        const other = found.get(step.value);
        if (other === undefined) path.push(visit(step.value));
        else if (other.open) mine.low = Math.min(mine.low, other.index);
        continue;
      }
      path.pop();
      const above = found.get(path[path.length - 1]?.vertex ?? -1);
      if (above !== undefined) above.low = Math.min(above.low, mine.low);
      if (mine.low !== mine.index) continue;
      const members = stack.splice(stack.indexOf(vertex));
      for (const member of members) (found.get(member) as { open: boolean }).open = false;
      if (members.length > 1) result.push(members);
    }
  }
  return result;
}
