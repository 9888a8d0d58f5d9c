/** Takes off what is left of disruptions that nobody remembers: taints and conditions without a command behind them. */
import { ANNOTATION_DISRUPTION } from '../../apis/spindrift/annotations.ts';
import { asError } from '../../platform/errors.ts';
import { isGoing, type StateNode } from '../../state/state-node.ts';
import type { ControllersOptions } from '../controllers-options.ts';
import { readMark } from './commands/mark.ts';
import { isTainted, Marks, saysWhy } from './commands/marks.ts';

/** A claim's mark and its node's taint reach us on different ways: what is younger may only look forgotten. */
const STALE_MS = 10_000;

export class StaleMarks {
  readonly #options: ControllersOptions;
  readonly #marks: Marks;
  /** Since when nodes look forgotten, by name. */
  readonly #since = new Map<string, number>();

  constructor(options: ControllersOptions) {
    this.#options = options;
    this.#marks = new Marks(options);
  }

  /** Cleans what has been stale for long enough; what fails is tried again at the next sweep. */
  async sweep(nodes: readonly StateNode[], signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#options;
    const now = clock.elapsed();
    const stale = nodes.filter(isStale);
    const names = new Set(stale.map(({ name }) => name));
    for (const name of this.#since.keys()) if (!names.has(name)) this.#since.delete(name);
    for (const { name } of stale) this.#since.set(name, this.#since.get(name) ?? now);
    const due = stale.filter(({ name }) => now - (this.#since.get(name) as number) >= STALE_MS);
    for (const result of await Promise.allSettled(due.map((state) => this.#clean(state, signal)))) {
      if (result.status === 'rejected') logger.debug('marks not removed', { error: asError(result.reason) });
    }
  }

  async #clean({ node, claim }: StateNode, signal: AbortSignal): Promise<void> {
    const { writes } = this.#options;
    if (node !== undefined && isTainted(node)) await this.#marks.untaint(writes.newest(node), signal);
    if (claim !== undefined) await this.#marks.remove(writes.newest(claim), signal);
  }
}

/** A mark that cannot be read is one that nobody can act on. */
function isStale({ node, claim, name }: StateNode): boolean {
  if (claim === undefined) return false;
  const text = claim.metadata.annotations?.[ANNOTATION_DISRUPTION];
  if (text !== undefined && readMark(text) === undefined) return claim.metadata.deletionTimestamp === undefined;
  if (isGoing({ name, claim, ...(node && { node }) })) return false;
  return saysWhy(claim) || (node !== undefined && isTainted(node));
}
