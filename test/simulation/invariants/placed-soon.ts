/** Where nothing is in the way, a pod waits for its place no longer than a machine takes to come, and no round of ours is forgotten. */
import { parseTimestamp } from '../../../src/platform/clock.ts';
import type { InvariantMaker } from '../invariant.ts';
import { whyNoPlace } from '../why-no-place.ts';

/** Machines come within a minute, and one that is taken before it is up is replaced. */
const SOON_MS = 4 * 60_000;

export const placedSoon: InvariantMaker = (facts, broken) => {
  let calm = false;
  return {
    mended() {
      calm = true;
    },
    minute() {
      if (!calm) return;
      const waits = facts.pods.filter(({ metadata, spec }) => {
        const since = parseTimestamp(metadata.creationTimestamp) ?? facts.now;
        return spec.nodeName === undefined && metadata.deletionTimestamp === undefined && facts.now - since > SOON_MS;
      });
      for (const pod of waits) {
        if (whyNoPlace(facts, pod) !== undefined) continue;
        const { name, creationTimestamp } = pod.metadata;
        broken(`pod ${name} waits since ${creationTimestamp}, though nothing is in the way: ${facts.said(name)}`);
      }
    },
  };
};
