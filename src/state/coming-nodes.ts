/**
 * Nodes that somebody has decided on and whose claims are not written yet. Until they are, nobody else could know of them,
 * and the same room under the limits of a pool would be given away twice.
 */
import type { Resources } from '../engine/problem.ts';
import type { NewNode } from '../engine/solution.ts';

/** What a node takes of the limits of its pool. */
export interface ComingNode {
  readonly pool: string;
  readonly takes: Resources;
}

export class ComingNodes {
  readonly #coming = new Map<NewNode, ComingNode>();

  expect(node: NewNode, takes: Resources): void {
    this.#coming.set(node, { pool: node.pool, takes });
  }

  /** Its claim is written, and the state shows it; or it will not be. */
  settled(node: NewNode): void {
    this.#coming.delete(node);
  }

  list(): Iterable<ComingNode> {
    return this.#coming.values();
  }
}
