/** Replaces nodes that have drifted or expired. */
import type { StateNode } from '../../state/state-node.ts';
import { type Candidate, candidateOf } from './candidate.ts';
import type { Command, CommandReason } from './commands/command.ts';
import type { Look } from './look.ts';
import type { DisruptionMethod } from './method.ts';
import type { DisruptionMetrics } from './metrics.ts';
import { replaceAll } from './replace-all.ts';
import type { ReplaceWithinOptions } from './replace-within.ts';

export interface ReplacementOptions extends ReplaceWithinOptions {
  readonly name: string;
  readonly reason: Extract<CommandReason, 'Drifted' | 'Expired'>;
  readonly metrics: DisruptionMetrics;
  /** Since when the node must be replaced; undefined if it need not be. */
  dueSince(state: StateNode): number | undefined;
}

export class Replacement implements DisruptionMethod {
  readonly name: string;
  readonly reason: ReplacementOptions['reason'];
  readonly places = true;
  readonly #options: ReplacementOptions;

  constructor(options: ReplacementOptions) {
    this.#options = options;
    this.name = options.name;
    this.reason = options.reason;
  }

  async plan(look: Look, signal: AbortSignal): Promise<readonly Command[]> {
    const { reason } = this;
    const due = new Map<StateNode, number>();
    for (const state of look.nodes) {
      const since = this.#options.dueSince(state);
      if (since !== undefined && since <= look.now) due.set(state, since);
    }
    const candidates = [...due.keys()].flatMap((state) => look.candidate(state, 'eventual') ?? []);
    this.#options.metrics.eligible(reason, candidates.length);
    // Pods may move to nodes that are due later: they may move once more, but no room is launched twice.
    const companion = (state: StateNode) => candidateOf(state, 'eventual', look);
    const wanted = { candidates: inOrder(candidates, due), reason, closed: [], companion };
    return replaceAll(wanted, look, this.#options, signal);
  }
}

/** Sorts empty nodes first, then the longest due. */
function inOrder(candidates: readonly Candidate[], due: ReadonlyMap<StateNode, number>): Candidate[] {
  const rank = ({ pods }: Candidate): number => (pods.length === 0 ? 0 : 1);
  const since = ({ state }: Candidate): number => due.get(state) ?? 0;
  return candidates.toSorted(
    (a, b) => rank(a) - rank(b) || since(a) - since(b) || (a.state.name < b.state.name ? -1 : 1),
  );
}
