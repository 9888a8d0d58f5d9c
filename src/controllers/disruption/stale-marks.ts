/** Removes disruption taints and conditions that no command accounts for. */
import { ANNOTATION_DISRUPTION } from '../../apis/spindrift/annotations.ts';
import { asError } from '../../platform/errors.ts';
import { isGoing, type StateNode } from '../../state/state-node.ts';
import type { ControllersOptions } from '../controllers-options.ts';
import { readMark } from './commands/mark.ts';
import { hasDisruptionReason, isTainted, Marks } from './commands/marks.ts';

/** The claim's mark and the node's taint arrive by different watches, so a younger leftover may only look stale. */
const STALE_MS = 10_000;

export class StaleMarks {
  readonly #options: ControllersOptions;
  readonly #marks: Marks;
  /** Since when nodes look stale, by name. */
  readonly #since = new Map<string, number>();

  constructor(options: ControllersOptions) {
    this.#options = options;
    this.#marks = new Marks(options);
  }

  /** Cleans nodes that have been stale for long enough; failures are tried again in the next sweep. */
  async sweep(nodes: readonly StateNode[], signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#options;
    const now = clock.elapsed();
    const stale = nodes.filter(isStale);
    const names = new Set(stale.map(({ name }) => name));
    for (const name of this.#since.keys()) if (!names.has(name)) this.#since.delete(name);
    for (const { name } of stale) this.#since.set(name, this.#since.get(name) ?? now);
    const due = stale.filter(({ name }) => now - (this.#since.get(name) as number) >= STALE_MS);
    for (const result of await Promise.allSettled(due.map((state) => this.#clean(state, signal)))) {
      if (result.status === 'rejected')
        logger.debug('stale disruption marks not removed', { error: asError(result.reason) });
    }
  }

  async #clean({ node, claim }: StateNode, signal: AbortSignal): Promise<void> {
    const { writes } = this.#options;
    if (node !== undefined && isTainted(node)) await this.#marks.untaint(writes.newest(node), signal);
    if (claim !== undefined) await this.#marks.remove(writes.newest(claim), signal);
  }
}

/** A mark that cannot be parsed is stale too: no command can be read from it. */
function isStale({ node, claim, name, foreign }: StateNode): boolean {
  // Karpenter beside us uses the same conditions and taints.
  if (claim === undefined || foreign === true) return false;
  const text = claim.metadata.annotations?.[ANNOTATION_DISRUPTION];
  if (text !== undefined && readMark(text) === undefined) return claim.metadata.deletionTimestamp === undefined;
  if (isGoing({ name, claim, ...(node && { node }) })) return false;
  return hasDisruptionReason(claim) || (node !== undefined && isTainted(node));
}
