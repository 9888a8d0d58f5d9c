import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../platform/virtual-clock.ts';
import { LaterRound } from './later-round.ts';

function world() {
  const clock = new VirtualClock();
  const asked: number[] = [];
  const later = new LaterRound({ clock, trigger: () => void asked.push(clock.elapsed() / 1000) });
  return { clock, asked, later };
}

describe('another round', () => {
  it('is asked for while pods wait, less and less often, but every minute', async () => {
    const { clock, asked, later } = world();
    for (let round = 0; round < 6; round++) {
      later.ended({ waiting: 1 });
      await clock.advance(60_000);
    }
    expect(asked).toEqual([10, 80, 160, 240, 300, 360]);
  });

  it('is not asked for when all have one, and soon again when one has lost its place', async () => {
    const { clock, asked, later } = world();
    for (const pods of [1, 1, 0]) {
      later.ended({ waiting: pods });
      await clock.advance(5000);
    }
    await clock.advance(300_000);
    expect(asked).toEqual([]);
    later.ended({ waiting: 1 });
    await clock.advance(10_000);
    expect(asked).toEqual([325]);
  });

  it('is asked for every minute while buffers have no room, and not any more when they have', async () => {
    const { clock, asked, later } = world();
    for (const virtual of [2, 1, 0]) {
      later.ended({});
      later.also(virtual);
      await clock.advance(70_000);
    }
    expect(asked).toEqual([60, 130]);
  });

  it('is asked for soon again when others have asked for one in between, as something has changed', async () => {
    const { clock, asked, later } = world();
    later.ended({ waiting: 1 });
    await clock.advance(10_000);
    later.ended({ waiting: 1 });
    await clock.advance(5000);
    later.ended({ waiting: 1 });
    await clock.advance(10_000);
    expect(asked).toEqual([10, 25]);
  });

  it('is asked for soon while claims cannot be written, less and less often, but every minute', async () => {
    const { clock, asked, later } = world();
    for (let round = 0; round < 9; round++) {
      later.ended({ unwritten: 1 });
      await clock.advance(60_000);
    }
    expect(asked).toEqual([0.5, 61, 122, 184, 248, 316, 392, 480, 540]);
    later.ended({});
    later.ended({ unwritten: 1 });
    await clock.advance(500);
    expect(asked.at(-1)).toBe(540.5);
  });

  it('is asked for as soon as one of its causes wants it', async () => {
    const { clock, asked, later } = world();
    later.ended({ waiting: 1, displaced: 1, unwritten: 1 });
    await clock.advance(500);
    later.ended({ waiting: 1, displaced: 1 });
    await clock.advance(60_000);
    expect(asked).toEqual([0.5, 20.5]);
  });

  it('is not asked for by one who has been told to stop', async () => {
    const { clock, asked, later } = world();
    later.ended({ waiting: 1 });
    later.stop();
    await clock.advance(300_000);
    expect(asked).toEqual([]);
  });

  it('is asked for before the places of pods are forgotten that do not leave nodes that go', async () => {
    const { clock, later, asked } = world();
    later.ended({ displaced: 1 });
    await clock.advance(600_000);
    expect(asked).toEqual([300]);
  });
});
