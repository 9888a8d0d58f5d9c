import { describe, expect, it } from 'vitest';
import { ANNOTATION_REPLACES } from '../../../apis/spindrift/annotations.ts';
import { VirtualClock } from '../../../platform/virtual-clock.ts';
import { aNodeClaim } from '../../testkit/objects.ts';
import type { Look } from '../look.ts';
import type { FollowingMove, PlannedMove } from './commands-of-plan.ts';
import { FollowingMoves } from './following-moves.ts';

const command = (id: string, newNodes: number) => ({ id, newNodes: Array.from({ length: newNodes }, () => ({})) });
const FIRST = { command: command('first', 1) } as unknown as PlannedMove;
const following = (id: string, ...follows: PlannedMove[]): FollowingMove =>
  ({ command: command(id, 1), follows: follows.map((move) => move.command) }) as unknown as FollowingMove;

/** A look at claims that were written for these commands. */
function look(...replaced: string[]): Look {
  const nodes = replaced.map((id) => {
    const metadata = { annotations: { [ANNOTATION_REPLACES]: id } };
    return { name: `nodeclaim/for-${id}`, claim: aNodeClaim({ name: `for-${id}`, metadata }) };
  });
  return { nodes } as unknown as Look;
}

describe('moves that follow others', () => {
  it('are ready when the claims that they need are written, and then once', async () => {
    const moves = new FollowingMoves(new VirtualClock());
    const second = following('second', FIRST);
    moves.keep([second, following('third', second)], [FIRST], {} as never);
    expect(moves.ready(look())).toBeUndefined();
    const ready = moves.ready(look('first'));
    expect(ready?.moves).toEqual([second]);
    expect(ready?.needsOf(second.command)).toEqual(['for-first']);
    expect(moves.ready(look('first'))).toBeUndefined();
    expect(moves.ready(look('first', 'second'))?.moves).toHaveLength(1);
  });

  it('are not kept where what they follow has not begun, nor those that follow them', () => {
    const moves = new FollowingMoves(new VirtualClock());
    const second = following('second', FIRST);
    moves.keep([second, following('third', second)], [], {} as never);
    expect(moves.ready(look('first', 'second'))).toBeUndefined();
  });

  it('are forgotten when there is another plan', () => {
    const moves = new FollowingMoves(new VirtualClock());
    moves.keep([following('second', FIRST)], [FIRST], {} as never);
    moves.forget();
    expect(moves.ready(look('first'))).toBeUndefined();
  });

  it('are forgotten when those claims do not come', async () => {
    const clock = new VirtualClock();
    const moves = new FollowingMoves(clock);
    moves.keep([following('second', FIRST)], [FIRST], {} as never);
    await clock.advance(20_000);
    expect(moves.ready(look('first'))).toBeUndefined();
  });
});
