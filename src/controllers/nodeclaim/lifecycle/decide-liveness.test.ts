import { describe, expect, it } from 'vitest';
import { aCondition, aNodeClaim, later } from '../../testkit/objects.ts';
import { decideLiveness, LIVENESS_LIMITS } from './decide-liveness.ts';

const MINUTE = 60_000;
const claim = (...conditions: ReturnType<typeof aCondition>[]) => aNodeClaim({ status: { conditions } });
const decide = (what: ReturnType<typeof claim>, minutes: number) =>
  decideLiveness(what, later(minutes * MINUTE), LIVENESS_LIMITS);

describe('the time of a claim', () => {
  it('is five minutes from its creation to its launch', () => {
    expect(decide(aNodeClaim(), 4)).toEqual({ kind: 'waiting', forMs: MINUTE });
    const failing = { ...aCondition('Launched', 'Unknown', later(3 * MINUTE)), message: 'denied' };
    expect(decide(claim(failing), 5)).toEqual({
      kind: 'over',
      reason: 'launch_timeout',
      event: 'LaunchTimeout',
      message: 'not Launched within 5 minutes: denied',
    });
  });

  it('is fifteen minutes from there to its registration, and thirty to its initialisation', () => {
    const launched = aCondition('Launched', 'True', later(2 * MINUTE));
    expect(decide(claim(launched), 16)).toEqual({ kind: 'waiting', forMs: MINUTE });
    expect(decide(claim(launched), 17)).toMatchObject({ kind: 'over', reason: 'registration_timeout' });
    const registered = aCondition('Registered', 'True', later(10 * MINUTE));
    expect(decide(claim(launched, registered), 39)).toEqual({ kind: 'waiting', forMs: MINUTE });
    expect(decide(claim(launched, registered), 40)).toMatchObject({ kind: 'over', reason: 'initialization_timeout' });
  });

  it('never ends once it is initialised', () => {
    const all = ['Launched', 'Registered', 'Initialized'].map((type) => aCondition(type));
    expect(decide(claim(...all), 100_000)).toEqual({ kind: 'done' });
  });
});
