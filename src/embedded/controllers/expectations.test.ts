import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../platform/virtual-clock.ts';
import { Expectations } from './expectations.ts';

describe('what a controller has written', () => {
  it('keeps it waiting until it has heard of all of it', () => {
    const expectations = new Expectations(new VirtualClock());
    expect(expectations.satisfied('web')).toBe(true);
    expectations.expectCreation('web', 'a');
    expectations.expectDeletion('web', 'b');
    expectations.sawCreation('web', 'a');
    expect(expectations.satisfied('web')).toBe(false);
    expectations.sawDeletion('web', 'b');
    expect(expectations.satisfied('web')).toBe(true);
  });

  it("does not keep it waiting for another owner, or for somebody else's objects", () => {
    const expectations = new Expectations(new VirtualClock());
    expectations.expectCreation('web', 'a');
    expectations.sawCreation('db', 'a');
    expectations.sawCreation('web', 'x');
    expect([expectations.satisfied('web'), expectations.satisfied('db')]).toEqual([false, true]);
  });

  it('is heard of also when it is deleted before it was seen', () => {
    const expectations = new Expectations(new VirtualClock());
    expectations.expectCreation('web', 'a');
    expectations.sawDeletion('web', 'a');
    expect(expectations.satisfied('web')).toBe(true);
  });

  it('is taken for lost after five minutes', async () => {
    const clock = new VirtualClock();
    const expectations = new Expectations(clock);
    expectations.expectCreation('web', 'a');
    await clock.advance(299_999);
    expect(expectations.satisfied('web')).toBe(false);
    await clock.advance(1);
    expect(expectations.satisfied('web')).toBe(true);
  });
});
