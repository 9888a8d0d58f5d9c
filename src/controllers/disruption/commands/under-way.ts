/** The commands that the cluster knows: they are learnt from the marks on claims. */
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import { ANNOTATION_DISRUPTION } from '../../../apis/spindrift/annotations.ts';
import type { ControllersOptions } from '../../controllers-options.ts';
import type { FilledNode } from './command.ts';
import type { NextStep } from './decide-command.ts';
import { type Mark, readMark } from './mark.ts';

/** How a command is undone. */
export type Undo = Extract<NextStep, { kind: 'undo' }>;

export interface KnownCommand {
  readonly mark: Mark;
  /** Names of the claims that carry the mark, or carried it. */
  readonly names: Set<string>;
  /** UIDs of those that were told to go, which the cache may not show yet. */
  readonly deleted: Set<string>;
  /** Nodes that are closed while pods leave for them; nobody remembers them after a restart. */
  readonly fills?: readonly FilledNode[];
  /** All that belongs to the marks is written. */
  marked?: boolean;
  /** Since when its next step is tried in vain, by the clock's `elapsed`. */
  failingSince?: number;
  /** How it is undone, once it is: it is not taken up again. */
  undoing?: Undo;
}

export class UnderWay {
  readonly #options: Pick<ControllersOptions, 'state' | 'writes'>;
  readonly #known = new Map<string, KnownCommand>();

  constructor(options: Pick<ControllersOptions, 'state' | 'writes'>) {
    this.#options = options;
  }

  get size(): number {
    return this.#known.size;
  }

  get(id: string): KnownCommand | undefined {
    return this.#known.get(id);
  }

  /** A command has begun that takes the claims of these names. */
  add(mark: Mark, names: readonly string[], fills: readonly FilledNode[] = []): void {
    this.#known.set(mark.id, { mark, names: new Set(names), deleted: new Set(), fills });
  }

  /** Takes note of a claim's mark; gives the command's identity. */
  learn({ metadata }: NodeClaim): string | undefined {
    const mark = readMark(metadata.annotations?.[ANNOTATION_DISRUPTION]);
    if (mark === undefined) return undefined;
    if (!this.#known.has(mark.id)) this.add(mark, []);
    this.#known.get(mark.id)?.names.add(metadata.name ?? '');
    return mark.id;
  }

  delete(id: string): void {
    this.#known.delete(id);
  }

  /** Names of the claims that the command needs, and no other one. */
  neededOnlyBy({ id, needs }: Mark): string[] {
    if (needs.length === 0) return [];
    const others = [...this.#known.values()].filter(({ mark }) => mark.id !== id);
    const stillNeeded = new Set(others.flatMap(({ mark }) => mark.needs.map(({ name }) => name)));
    return needs.flatMap(({ name }) => (stillNeeded.has(name) ? [] : [name]));
  }

  /** The claims that are there and carry the mark of the command. */
  claimsOf(known: KnownCommand): NodeClaim[] {
    return this.named(known).filter(
      ({ metadata }) => readMark(metadata.annotations?.[ANNOTATION_DISRUPTION])?.id === known.mark.id,
    );
  }

  /** The claims of its names that are there, whether or not they carry its mark. */
  named({ names }: KnownCommand): NodeClaim[] {
    return [...names].flatMap((name) => this.claimNamed(name) ?? []);
  }

  /** The claim of that name, as we know it. */
  claimNamed(name: string): NodeClaim | undefined {
    const { state, writes } = this.#options;
    return writes.newest(state.claimNamed(name));
  }
}
