/**
 * Where machines are taken back with time enough, nobody is asked to leave them before the claims are written that take
 * their place. It is seen in the calm, where the claims that follow are for those machines, and where no limit of a pool
 * keeps them from being written before the machines are gone.
 */
import type { NodeClaim } from '../../../src/apis/karpenter/node-claim.ts';
import type { Pod } from '../../../src/apis/kubernetes/pod.ts';
import { ANNOTATION_INTERRUPTION, ANNOTATION_REPLACES } from '../../../src/apis/spindrift/annotations.ts';
import { mayBind } from '../../../src/state/steerable.ts';
import type { InvariantMaker } from '../invariant.ts';

export const replacementFirst: InvariantMaker = (facts, broken) => {
  let calm = false;
  /** The machines go then; before that they are watched. */
  let until = 0;
  let replaced = false;
  let asked: string | undefined;
  /** UIDs of the pods that were made since. */
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
        // What is written while those that came have a place is for others, who have yet to be asked.
        const wait = facts.pods.some(({ spec, metadata: { uid } }) => spec.nodeName === undefined && made.has(uid));
        if (!replaced && asked !== undefined && wait && !isLimited)
          broken(`${asked} before claim ${name} was written, which takes its place`);
        replaced = true;
      }
      const leaves =
        object.metadata.deletionTimestamp !== undefined && previous?.metadata.deletionTimestamp === undefined;
      if (collection !== 'pods' || verb !== 'evict' || !leaves) return;
      const { nodeName } = (object as Pod).spec;
      // Where only the scheduler can put those that come, it may take the room that others were to have.
      if (!mayBind(previous as Pod)) until = 0;
      if (facts.claimOn(nodeName)?.metadata.annotations?.[ANNOTATION_INTERRUPTION] !== undefined)
        asked ??= `pod ${object.metadata.name} was asked to leave ${nodeName}`;
    },
  };
};
