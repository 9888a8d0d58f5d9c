import { describe, expect, it } from 'vitest';
import type { Fleet } from '../../../engine/consolidation/fleet.ts';
import { aPod, GIB } from '../../../engine/testkit/builders.ts';
import { aFleet, aFleetNode, aFleetPod } from '../../../engine/testkit/fleet-builder.ts';
import type { EpochMs } from '../../../platform/clock.ts';
import type { BuiltFleet } from '../../../state/build-fleet.ts';
import { Ground, type GroundOptions } from './ground.ts';

const NOW = 1_000_000 as EpochMs;

/** A hundred nodes of which each is filled to the share. */
function filledTo(share: number): Fleet {
  const names = Array.from({ length: 100 }, (_, index) => `n${index}`);
  return aFleet({
    groups: [aPod({ requests: { cpu: 4000 * share, memory: GIB } })],
    nodes: names.map((name) => aFleetNode(name)),
    pods: names.map((name) => aFleetPod(`on-${name}`, name)),
  });
}

/** How many milliseconds the nodes are waited for that are held for so long. */
function waits(fleet: Fleet, heldMs: readonly number[], elapsed = { ms: 0 }, ground = aGround(elapsed)) {
  const heldUntil = heldMs.map((ms) => (NOW + ms) as EpochMs);
  const until = ground.gathersUntil({ fleet, heldUntil } as unknown as BuiltFleet, NOW);
  return until === undefined ? undefined : until - NOW;
}

function aGround(elapsed: { ms: number }): Ground {
  return new Ground({ clock: { elapsed: () => elapsed.ms } } as unknown as GroundOptions);
}

describe('consolidation waits for nodes that are held for a moment', () => {
  it('where they are more than a few of the nodes that the pods need', () => {
    expect(waits(filledTo(1), [5000])).toBeUndefined();
    expect(waits(filledTo(1), [5000, 7000])).toBe(7000);
    // Half of the nodes would do for the pods, so that one is as much as two were before.
    expect(waits(filledTo(0.5), [5000])).toBe(5000);
  });

  it('but not for those that are held for longer', () => {
    expect(waits(filledTo(0.5), [11_000])).toBeUndefined();
    expect(waits(filledTo(0.5), [])).toBeUndefined();
  });

  it('but not for ever', () => {
    const elapsed = { ms: 0 };
    const ground = aGround(elapsed);
    expect(waits(filledTo(0.5), [5000], elapsed, ground)).toBe(5000);
    elapsed.ms = 29_000;
    expect(waits(filledTo(0.5), [5000], elapsed, ground)).toBe(5000);
    elapsed.ms = 30_000;
    expect(waits(filledTo(0.5), [5000], elapsed, ground)).toBeUndefined();
  });
});
