/**
 * Cordons existing nodes while they are filled with the pods of a command, and reserves their room, so that the plan is carried out as made.
 * The claim lifecycle uncordons them when all pods have arrived or the command is over. After a restart the planned pods are not known, and
 * the nodes are uncordoned at once.
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

  /** Cordons the nodes and reserves room for the pods. A node that cannot be cordoned is left to the scheduler. */
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
      logger.warn('cannot cordon a node for planned pods: the scheduler may place others on it', {
        node: name,
        error: asError(error),
      });
    }
  }
}
