/**
 * If an interruption leaves enough time, no pod is evicted before the replacement claims are created. Checked only after the faults have
 * ended: then new claims are for the interrupted machines, and only if no pool limit prevents creating them in time.
 */
import type { NodeClaim } from '../../../src/apis/karpenter/node-claim.ts';
import type { Pod } from '../../../src/apis/kubernetes/pod.ts';
import { ANNOTATION_INTERRUPTION, ANNOTATION_REPLACES } from '../../../src/apis/spindrift/annotations.ts';
import { mayBind } from '../../../src/state/steerable.ts';
import type { InvariantMaker } from '../invariant.ts';

export const replacementFirst: InvariantMaker = (facts, broken) => {
  let calm = false;
  /** When the interrupted machines are lost; checked until then. */
  let until = 0;
  let replaced = false;
  let asked: string | undefined;
  /** UIDs of pods created since. */
  let made = new Set<string | undefined>();
  return {
    mended() {
      calm = true;
    },
    happens(deed) {
      if (!calm || deed.what !== 'interrupt') return;
      until = facts.now + deed.noticeMs;
      replaced = false;
      asked = undefined;
      made = new Set();
    },
    written({ collection, type, object, previous, verb }) {
      if (collection === 'pods' && type === 'ADDED') made.add(object.metadata.uid);
      if (facts.now >= until || verb === undefined) return;
      if (collection === 'nodeclaims.karpenter.sh' && type === 'ADDED') {
        const { name, annotations } = (object as NodeClaim).metadata;
        if (annotations?.[ANNOTATION_REPLACES] !== undefined) return;
        const isLimited = facts.pools.some(({ spec }) => spec.limits !== undefined);
        // If no new pod is pending, the claim is for other pods that are not evicted yet.
        const wait = facts.pods.some(({ spec, metadata: { uid } }) => spec.nodeName === undefined && made.has(uid));
        if (!replaced && asked !== undefined && wait && !isLimited)
          broken(`${asked} before claim ${name} was written, which takes its place`);
        replaced = true;
      }
      const leaves =
        object.metadata.deletionTimestamp !== undefined && previous?.metadata.deletionTimestamp === undefined;
      if (collection !== 'pods' || verb !== 'evict' || !leaves) return;
      const { nodeName } = (object as Pod).spec;
      // If only the scheduler can bind the replacement pods, it may use room reserved for others.
      if (!mayBind(previous as Pod)) until = 0;
      if (facts.claimOn(nodeName)?.metadata.annotations?.[ANNOTATION_INTERRUPTION] !== undefined)
        asked ??= `pod ${object.metadata.name} was asked to leave ${nodeName}`;
    },
  };
};
