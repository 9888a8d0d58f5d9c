import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../../platform/virtual-clock.ts';
import { CircuitBreaker } from './circuit-breaker.ts';

const MINUTE = 60_000;

describe('CircuitBreaker', () => {
  it('pauses a class in a region after three failures in five minutes, for fifteen, and no other', async () => {
    const clock = new VirtualClock();
    const breaker = new CircuitBreaker({ clock });
    for (let failure = 0; failure < 3; failure++) breaker.failed('a in us-south', 'no such image');
    expect(() => breaker.enter('a in us-south')).toThrow(
      'launches are paused for 900 s because they kept failing: no such image',
    );
    expect(() => breaker.enter('b in us-south')).not.toThrow();
    await clock.advance(15 * MINUTE);
    breaker.enter('a in us-south');
    breaker.enter('a in us-south');
    expect(() => breaker.enter('a in us-south')).toThrow();
    breaker.succeeded('a in us-south');
    breaker.enter('a in us-south');
  });

  it('opens again at once when a trial fails', async () => {
    const clock = new VirtualClock();
    const breaker = new CircuitBreaker({ clock });
    for (let failure = 0; failure < 3; failure++) breaker.failed('a', 'x');
    await clock.advance(15 * MINUTE);
    breaker.enter('a');
    breaker.failed('a', 'y');
    expect(() => breaker.enter('a')).toThrow('y');
  });

  it('counts only failures of the last five minutes, and none where it is turned off', async () => {
    const clock = new VirtualClock();
    const breaker = new CircuitBreaker({ clock });
    breaker.failed('a', 'x');
    breaker.failed('a', 'x');
    await clock.advance(5 * MINUTE);
    breaker.failed('a', 'x');
    expect(() => breaker.enter('a')).not.toThrow();
    const off = new CircuitBreaker({ clock, enabled: false });
    for (let failure = 0; failure < 9; failure++) off.failed('a', 'x');
    expect(() => off.enter('a')).not.toThrow();
  });

  it('lets through so many launches of a class in a minute, where that is asked for', async () => {
    const clock = new VirtualClock();
    const breaker = new CircuitBreaker({ clock, perMinute: 2 });
    breaker.enter('a');
    breaker.enter('a');
    expect(() => breaker.enter('a')).toThrow('too many requests');
    breaker.enter('b');
    await clock.advance(30_000);
    breaker.enter('a');
  });
});
