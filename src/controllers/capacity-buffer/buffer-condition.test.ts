import { describe, expect, it } from 'vitest';
import { provisioningCondition, type RoomKept } from './buffer-condition.ts';

const messageOf = (kept: Partial<RoomKept>): string | undefined =>
  provisioningCondition({ replicas: 6, up: 0, coming: 0, why: '', rooms: [], ...kept }).message;

describe('the condition of a buffer', () => {
  it('says what its room costs once all of it is there', () => {
    const rooms = [{ place: 'a', pods: 6, price: 0.25 }];
    expect(messageOf({ up: 6, rooms })).toBe(
      'There is room for all 6 pods on nodes that are up: headroom of $0.2500 an hour on 1 node',
    );
  });

  it('says how many pods have no room and why, also before a place was looked for', () => {
    expect(messageOf({ up: 3, coming: 2, why: 'the pool is at its limits' })).toBe(
      'There is room for 3 of 6 pods on nodes that are up, for 2 on nodes that are starting, for 1 there is none: the pool is at its limits',
    );
    expect(messageOf({ up: 5 })).toBe(
      'There is room for 5 of 6 pods on nodes that are up, for 1 there is none: waiting for the next provisioning round',
    );
  });
});
