/** Without faults, a pod is pending no longer than a machine takes to start: no provisioning round is missed. */
import { type EpochMs, toTimestamp } from '../../../src/platform/clock.ts';
import type { InvariantMaker } from '../invariant.ts';
import { whyNoPlace } from '../why-no-place.ts';

/** Machines start within a minute, and one that is interrupted before is replaced. */
const SOON_MS = 4 * 60_000;

export const placedSoon: InvariantMaker = (facts, broken) => {
  let calm = false;
  /** Since when pods could be placed, by UID. */
  let waiting: ReadonlyMap<string, EpochMs> = new Map();
  return {
    mended() {
      calm = true;
    },
    minute() {
      if (!calm) return;
      const pods = facts.pods.filter(
        (pod) =>
          pod.spec.nodeName === undefined &&
          pod.metadata.deletionTimestamp === undefined &&
          whyNoPlace(facts, pod) === undefined,
      );
      waiting = new Map(pods.map(({ metadata: { uid = '' } }) => [uid, waiting.get(uid) ?? facts.now]));
      for (const { metadata } of pods) {
        const since = waiting.get(metadata.uid ?? '') ?? facts.now;
        if (facts.now - since <= SOON_MS) continue;
        const { name } = metadata;
        broken(`pod ${name} could have a place since ${toTimestamp(since)} and waits: ${facts.said(name)}`);
      }
    },
  };
};
