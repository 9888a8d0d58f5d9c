/**
 * Closes nodes that are there to the scheduler while pods leave other nodes for them, and keeps places for these: as for new nodes, what
 * was planned is what comes about. Whoever opens new nodes opens these too, when all have come or the command is over; after a
 * restart nobody is remembered, and they are opened at once.
 */
import { NODES } from '../../../apis/kubernetes/node.ts';
import { asError } from '../../../platform/errors.ts';
import { isOpening } from '../../../state/state-node.ts';
import type { Successors } from '../../../state/successors.ts';
import type { ControllersOptions } from '../../controllers-options.ts';
import { closed } from '../../nodeclaim/lifecycle/opening.ts';
import type { FilledNode } from './command.ts';

export interface FilledNodesOptions extends Pick<ControllersOptions, 'state' | 'writes' | 'logger'> {
  readonly successors: Pick<Successors, 'expect' | 'forget' | 'awaitedBy'>;
}

export class FilledNodes {
  readonly #options: FilledNodesOptions;

  constructor(options: FilledNodesOptions) {
    this.#options = options;
  }

  /** Closes those that are open and expects the pods there. One that cannot be closed is left to the scheduler. */
  async close(fills: readonly FilledNode[], signal: AbortSignal): Promise<void> {
    await Promise.all(fills.map((fill) => this.#close(fill, signal)));
  }

  async #close({ claim, node: name, pods }: FilledNode, signal: AbortSignal): Promise<void> {
    const { state, writes, successors, logger } = this.#options;
    const node = writes.newest(state.informers.nodes.get(name));
    if (node === undefined || node.spec?.unschedulable === true || isOpening(node) || successors.awaitedBy(claim))
      return;
    successors.expect(claim, pods);
    try {
      await writes.patch(NODES, node, closed({ spec: { taints: node.spec?.taints ?? [] } }), { signal });
    } catch (error) {
      signal.throwIfAborted();
      successors.forget(claim);
      logger.warn('a node cannot be closed: the scheduler decides who comes to it', {
        node: name,
        error: asError(error),
      });
    }
  }
}
