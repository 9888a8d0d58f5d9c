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
  /** What they were planned from. */
  readonly built: BuiltFleet;
  /** Names of the claims that must be up before anything of a command goes. */
  needsOf(command: Command): string[];
}

/** Claims that are not there by then will not come. */
const LONGEST_MS = 20_000;

export class FollowingMoves {
  readonly #clock: Clock;
  #following: Following | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Keeps those of the moves that follow what has begun, or each other. */
  keep(next: readonly FollowingMove[], begun: readonly PlannedMove[], built: BuiltFleet): void {
    // Those that follow come after those that they follow.
    const known = new Set(begun.map(({ command }) => command));
    const moves = next.filter(
      ({ command, follows }) => follows.every((other) => known.has(other)) && known.add(command),
    );
    this.#following = moves.length === 0 ? undefined : { moves, built, since: this.#clock.elapsed() };
  }

  /** There is another plan. */
  forget(): void {
    this.#following = undefined;
  }

  /** Those whose other commands have written the claims that they need; they are not kept any more. */
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
