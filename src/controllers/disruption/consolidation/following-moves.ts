/** Moves of the latest plan whose pods go to new nodes of other moves: they begin when the claims for those are written. */
import { ANNOTATION_REPLACES } from '../../../apis/spindrift/annotations.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { BuiltFleet } from '../../../state/build-fleet.ts';
import type { Command } from '../commands/command.ts';
import type { Look } from '../look.ts';
import type { FollowingMove, PlannedMove } from './commands-of-plan.ts';

interface Following {
  readonly moves: readonly FollowingMove[];
  readonly built: BuiltFleet;
  readonly since: number;
}

/** Moves that can begin now. */
export interface ReadyMoves {
  readonly moves: readonly FollowingMove[];
  /** The fleet that they were planned from. */
  readonly built: BuiltFleet;
  /** Names of the claims that must be up before the command deletes anything. */
  needsOf(command: Command): string[];
}

/** After this long, missing claims are given up. */
const LONGEST_MS = 20_000;

export class FollowingMoves {
  readonly #clock: Clock;
  #following: Following | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Keeps the moves that follow begun moves, or each other. */
  keep(next: readonly FollowingMove[], begun: readonly PlannedMove[], built: BuiltFleet): void {
    // `next` is ordered: a move comes after all that it follows.
    const known = new Set(begun.map(({ command }) => command));
    const moves = next.filter(
      ({ command, follows }) => follows.every((other) => known.has(other)) && known.add(command),
    );
    this.#following = moves.length === 0 ? undefined : { moves, built, since: this.#clock.elapsed() };
  }

  /** Drops all moves, because there is a new plan. */
  forget(): void {
    this.#following = undefined;
  }

  /** Returns, and no longer keeps, the moves whose needed claims are written. */
  ready(look: Look): ReadyMoves | undefined {
    const following = this.#following;
    if (following === undefined) return undefined;
    const claims = Map.groupBy(look.nodes, ({ claim }) => claim?.metadata.annotations?.[ANNOTATION_REPLACES]);
    const made = ({ id }: Command): string[] => (claims.get(id) ?? []).map(({ claim }) => claim?.metadata.name ?? '');
    const isThere = (command: Command): boolean => made(command).length === command.newNodes.length;
    const moves = following.moves.filter(({ follows }) => follows.every(isThere));
    const rest = following.moves.filter((move) => !moves.includes(move));
    const over = this.#clock.elapsed() - following.since >= LONGEST_MS;
    this.#following = rest.length === 0 || over ? undefined : { ...following, moves: rest };
    if (moves.length === 0 || over) return undefined;
    const follows = new Map(moves.map((move) => [move.command, move.follows]));
    return { moves, built: following.built, needsOf: (command) => (follows.get(command) ?? []).flatMap(made) };
  }
}
