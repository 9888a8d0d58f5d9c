import { describe, expect, it } from 'vitest';
import type { EpochMs } from '../../platform/clock.ts';
import { decideClock, decideNodeClocks } from './decide-clock.ts';

const NOW = 1_800_000_000_000;
const at = (ms: number): EpochMs => (NOW + ms) as EpochMs;

describe('decideClock', () => {
  it.each([
    ['a second cut off', 0, 100, -900],
    ['a slow answer', 0, 9000, 8000],
    ['a little off', 0, 100, 4000],
  ])('is content with %s', (_, asked, answered, server) => {
    const reading = { askedAt: at(asked), answeredAt: at(answered), serverTime: at(server) };
    expect(decideClock(reading)).toMatchObject({ status: 'ok' });
  });

  it('warns of seconds and fails on more', () => {
    const reading = (serverTime: number) =>
      decideClock({ askedAt: at(0), answeredAt: at(100), serverTime: at(serverTime) });
    expect(reading(9100)).toMatchObject({ status: 'warning', text: 'this clock is 9 s behind that of the API server' });
    expect(reading(-61_000)).toMatchObject({
      status: 'failed',
      text: 'this clock is 60 s ahead of that of the API server',
      todo: expect.stringContaining('NTP'),
    });
  });
});

describe('decideNodeClocks', () => {
  it('names nodes that live in the future, and no others', () => {
    const nodes = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name, heartbeat: at(60_000) }));
    expect(decideNodeClocks(nodes, at(0))).toMatchObject({
      status: 'warning',
      text: 'the clocks of nodes a, b, c and 2 more are more than 15 s ahead',
    });
    const past = { name: 'old', heartbeat: at(-300_000) };
    expect(decideNodeClocks([past, { name: 'new', heartbeat: undefined }], at(0))).toBeUndefined();
  });
});
