/** The commands in progress: those begun here, and those read from the marks on claims. */
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import { ANNOTATION_DISRUPTION } from '../../../apis/spindrift/annotations.ts';
import type { ControllersOptions } from '../../controllers-options.ts';
import type { FilledNode } from './command.ts';
import type { NextStep } from './decide-command.ts';
import { type Mark, readMark } from './mark.ts';

/** The step that undoes a command. */
export type Undo = Extract<NextStep, { kind: 'undo' }>;

export interface KnownCommand {
  readonly mark: Mark;
  /** Names of the claims that have or had the mark. */
  readonly names: Set<string>;
  /** UIDs of claims that were deleted, which the cache may not show yet. */
  readonly deleted: Set<string>;
  /** Nodes that are cordoned while they are filled; not known after a restart. */
  readonly fills?: readonly FilledNode[];
  /** Whether all marks, taints and conditions are written. */
  marked?: boolean;
  /** Since when its next step fails, by the clock's `elapsed`. */
  failingSince?: number;
  /** Set once the command is being undone, which is final. */
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

  /** Adds a command whose candidates are the claims of these names. */
  add(mark: Mark, names: readonly string[], fills: readonly FilledNode[] = []): void {
    this.#known.set(mark.id, { mark, names: new Set(names), deleted: new Set(), fills });
  }

  /** Learns a command from a claim's mark. Returns the command's ID. */
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

  /** Names of the claims that only this command needs. */
  neededOnlyBy({ id, needs }: Mark): string[] {
    if (needs.length === 0) return [];
    const others = [...this.#known.values()].filter(({ mark }) => mark.id !== id);
    const stillNeeded = new Set(others.flatMap(({ mark }) => mark.needs.map(({ name }) => name)));
    return needs.flatMap(({ name }) => (stillNeeded.has(name) ? [] : [name]));
  }

  /** The existing claims with the mark of the command. */
  claimsOf(known: KnownCommand): NodeClaim[] {
    return this.named(known).filter(
      ({ metadata }) => readMark(metadata.annotations?.[ANNOTATION_DISRUPTION])?.id === known.mark.id,
    );
  }

  /** The existing claims of its names, with or without its mark. */
  named({ names }: KnownCommand): NodeClaim[] {
    return [...names].flatMap((name) => this.claimNamed(name) ?? []);
  }

  /** The claim of that name, with our own latest writes. */
  claimNamed(name: string): NodeClaim | undefined {
    const { state, writes } = this.#options;
    return writes.newest(state.claimNamed(name));
  }
}
