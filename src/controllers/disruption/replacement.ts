/** Nodes that must be replaced, whatever that costs: those that have drifted, and those that are too old. */
import type { StateNode } from '../../state/state-node.ts';
import type { UsablePool } from '../../state/usable-pool.ts';
import type { BackOff } from './back-off.ts';
import type { Candidate } from './candidate.ts';
import type { Command, CommandReason } from './commands/command.ts';
import type { Look } from './look.ts';
import type { DisruptionMethod } from './method.ts';
import type { DisruptionMetrics } from './metrics.ts';
import { placeElsewhere, type Solve } from './place-elsewhere.ts';
import { splitPlacement } from './split-placement.ts';
import { supplyKey } from './supply.ts';
import { withinBudgets } from './within-budgets.ts';

export interface ReplacementOptions {
  readonly name: string;
  readonly reason: Extract<CommandReason, 'Drifted' | 'Expired'>;
  readonly solve: Solve;
  readonly backOff: BackOff;
  readonly metrics: DisruptionMetrics;
  /** From when on the node must be replaced; undefined where it need not be. */
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
    const { backOff, metrics, solve, dueSince } = this.#options;
    const { reason } = this;
    const due = new Map<StateNode, number>();
    for (const state of look.nodes) {
      const since = dueSince(state);
      if (since !== undefined && since <= look.now) due.set(state, since);
    }
    const candidates = [...due.keys()].flatMap((state) => look.candidate(state, 'eventual') ?? []);
    metrics.eligible(reason, candidates.length);
    const ready = inOrder(candidates, due).filter((candidate) => this.#waitsMs(candidate) === 0);
    const chosen = withinBudgets(ready, reason, look);
    if (chosen.length === 0) return [];
    const pools = (await look.pools(signal)).filter((pool) => backOff.leftMs(supplyKey(nameOf(pool), reason)) === 0);
    const going = new Set(chosen.map(({ state }) => state));
    const closed = [...due.keys()].filter((state) => !going.has(state));
    const blocked = (candidate: Candidate, why: string): void => {
      backOff.failed(candidateKey(candidate, reason));
      look.refuse({ refused: candidate.state, why });
    };
    const placement = await placeElsewhere(chosen, { look, pools, closed, solve, blocked }, signal);
    if (placement === undefined) return [];
    const { nodes, poolNamed } = look;
    return splitPlacement(placement, { nodes, poolNamed, reason, disruption: 'eventual', newId: () => look.newId() });
  }

  /** How long the node has to wait because it had no other place, or because its pool's replacements failed. */
  #waitsMs(candidate: Candidate): number {
    const { backOff } = this.#options;
    const pool = candidate.pool.metadata.name ?? '';
    return Math.max(
      backOff.leftMs(candidateKey(candidate, this.reason)),
      candidate.pods.length === 0 ? 0 : backOff.leftMs(supplyKey(pool, this.reason)),
    );
  }
}

/** Empty nodes first, as that disturbs nobody; then those that wait longest. */
function inOrder(candidates: readonly Candidate[], due: ReadonlyMap<StateNode, number>): Candidate[] {
  const rank = ({ pods }: Candidate): number => (pods.length === 0 ? 0 : 1);
  const since = ({ state }: Candidate): number => due.get(state) ?? 0;
  return candidates.toSorted(
    (a, b) => rank(a) - rank(b) || since(a) - since(b) || (a.state.name < b.state.name ? -1 : 1),
  );
}

function candidateKey({ claim }: Candidate, reason: CommandReason): string {
  return `claim/${claim.metadata.uid}/${reason}`;
}

function nameOf({ pool }: UsablePool): string {
  return pool.metadata.name ?? '';
}
