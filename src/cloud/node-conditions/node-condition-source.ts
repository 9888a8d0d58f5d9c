/** Turns what Nodes say about their machines into notices, beside whatever else a cloud hears. */
import type { Node } from '../../apis/kubernetes/node.ts';
import type { Informer } from '../../kube/informer.ts';
import type { Clock } from '../../platform/clock.ts';
import type { NoticeSource } from '../cloud.ts';
import type { ReceivedNotice } from '../notice.ts';
import { type NamedConditions, noticesOfNode } from './notices-of-node.ts';

export interface NodeConditionSourceOptions {
  readonly clock: Clock;
  readonly nodes: Pick<Informer<Node>, 'addHandler'>;
  /** How notices name the machine of a provider ID; undefined when it is of another cloud. */
  machineKey(providerID: string): string | undefined;
  /** Further conditions that mean danger. */
  readonly conditions: NamedConditions;
}

export class NodeConditionSource implements NoticeSource {
  readonly name = 'node-conditions';
  readonly #options: NodeConditionSourceOptions;

  constructor(options: NodeConditionSourceOptions) {
    this.#options = options;
  }

  /** Notices from Nodes until the signal aborts, beginning with the conditions they already have. */
  async *receive(signal: AbortSignal): AsyncGenerator<ReceivedNotice, void, undefined> {
    const { clock, nodes, machineKey, conditions } = this.#options;
    const waiting: ReceivedNotice[] = [];
    /** By the UID of the node: what was handed over. */
    const told = new Map<string, Set<string>>();
    let wake: (() => void) | undefined;
    const look = (node: Node): void => {
      const machine = machineKey(node.spec?.providerID ?? '');
      if (machine === undefined) return;
      const uid = node.metadata.uid ?? '';
      const known = told.get(uid) ?? new Set<string>();
      for (const notice of noticesOfNode(node, conditions, clock.now())) {
        // Few taints say since when they are there.
        const since = notice.source === 'node-taint' ? '' : (notice.deadline ?? notice.at);
        const key = `${notice.kind} ${notice.source} ${since}`;
        if (known.has(key)) continue;
        known.add(key);
        told.set(uid, known);
        // The Node goes on saying it: there is nothing to take away.
        waiting.push({ ...notice, machine, acknowledge: async () => {} });
      }
      if (waiting.length > 0) wake?.();
    };
    const stop = nodes.addHandler({
      added: look,
      updated: look,
      deleted: ({ metadata }) => void told.delete(metadata.uid ?? ''),
    });
    try {
      while (!signal.aborted) {
        const next = waiting.shift();
        if (next !== undefined) yield next;
        else
          await new Promise<void>((resolve) => {
            const end = (): void => {
              signal.removeEventListener('abort', end);
              wake = undefined;
              resolve();
            };
            wake = end;
            signal.addEventListener('abort', end, { once: true });
          });
      }
    } finally {
      stop();
    }
  }
}
