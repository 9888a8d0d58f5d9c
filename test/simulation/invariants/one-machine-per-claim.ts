/** A claim has one machine; a machine without a claim is removed. */
import { TAG_CLAIM_UID } from '../../../src/cloud/simulated/labels.ts';
import type { InvariantMaker } from '../invariant.ts';

/** Garbage collection runs every two minutes; with failing calls and restarts some rounds are missed. */
const STRAY_MS = 15 * 60_000;

export const oneMachinePerClaim: InvariantMaker = (facts, broken) => {
  /** Since when machines have no claim, by their ID. */
  const strays = new Map<string, number>();
  return {
    changed({ tags }) {
      const claim = tags[TAG_CLAIM_UID] ?? '';
      // A machine that failed, or is being deleted, does not count.
      const machines = facts.instances.filter(
        (each) => each.tags[TAG_CLAIM_UID] === claim && each.failure === undefined && each.state !== 'stopping',
      );
      if (claim !== '' && machines.length > 1)
        broken(
          `claim ${JSON.stringify(tags)} has ${machines.length} machines: ${machines.map(({ id }) => id).join(', ')}`,
        );
    },
    minute() {
      const claimed = new Set(facts.claims.map(({ metadata }) => metadata.uid));
      const there = new Set<string>();
      for (const { id, state, tags } of facts.instances) {
        if (claimed.has(tags[TAG_CLAIM_UID]) || state === 'stopping') continue;
        there.add(id);
        const since = strays.get(id) ?? facts.now;
        strays.set(id, since);
        if (facts.now - since > STRAY_MS)
          broken(`machine ${id} of ${JSON.stringify(tags)} has had no claim for ${(facts.now - since) / 60_000} min`);
      }
      for (const id of strays.keys()) if (!there.has(id)) strays.delete(id);
    },
  };
};
