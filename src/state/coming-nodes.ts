/**
 * Planned nodes whose claims are not created yet. They count against the limits of their pools, so that the provisioner and disruption
 * commands do not use the same room twice.
 */
import type { Resources } from '../engine/problem.ts';
import type { NewNode } from '../engine/solution.ts';

/** Resources that a planned node uses of the limits of its pool. */
export interface ComingNode {
  readonly pool: string;
  readonly takes: Resources;
}

export class ComingNodes {
  readonly #coming = new Map<NewNode, ComingNode>();

  expect(node: NewNode, takes: Resources): void {
    this.#coming.set(node, { pool: node.pool, takes });
  }

  /** The claim was created and is in the state, or will not be created. */
  settled(node: NewNode): void {
    this.#coming.delete(node);
  }

  list(): Iterable<ComingNode> {
    return this.#coming.values();
  }
}
