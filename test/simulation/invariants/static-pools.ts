/** Without faults, a static pool has exactly its number of nodes, and none is removed as empty or underutilized. */
import { isTrue } from '../../../src/apis/karpenter/conditions.ts';
import { LABEL_NODE_POOL } from '../../../src/apis/karpenter/labels.ts';
import type { NodeClaim } from '../../../src/apis/karpenter/node-claim.ts';
import type { NodePool } from '../../../src/apis/karpenter/node-pool.ts';
import { ANNOTATION_DISRUPTION } from '../../../src/apis/spindrift/annotations.ts';
import { readMark } from '../../../src/controllers/disruption/commands/mark.ts';
import { isClaimGoing } from '../../../src/state/state-node.ts';
import type { InvariantMaker } from '../invariant.ts';

export const staticPools: InvariantMaker = (facts, broken) => {
  const fixed = (): readonly NodePool[] =>
    facts.pools.filter(({ spec, metadata }) => spec.replicas !== undefined && !metadata.deletionTimestamp);
  const count = (): void => {
    for (const { metadata, spec } of fixed()) {
      const { name = '' } = metadata;
      const wanted = Math.min(spec.replicas ?? 0, Number(spec.limits?.nodes ?? Number.POSITIVE_INFINITY));
      const up = facts.claimsOf(name).filter((claim) => isTrue(claim, 'Initialized') && !isClaimGoing(claim)).length;
      const replaced = facts.claimsOf(name).filter((claim) => isClaimGoing(claim)).length;
      // A node being replaced still exists, or its replacement is starting.
      if (up > wanted || up + replaced < wanted)
        broken(`pool ${name} is to have ${wanted} nodes and has ${up}, and ${replaced} that go: ${facts.said(name)}`);
    }
  };
  return {
    written({ collection, object }) {
      if (collection !== 'nodeclaims.karpenter.sh') return;
      const { reason } = readMark(object.metadata.annotations?.[ANNOTATION_DISRUPTION]) ?? {};
      if (reason !== 'Empty' && reason !== 'Underutilized') return;
      const pool = (object as NodeClaim).metadata.labels?.[LABEL_NODE_POOL];
      if (fixed().some(({ metadata }) => metadata.name === pool))
        broken(`claim ${object.metadata.name} of ${pool}, which keeps a fixed number of nodes, goes as ${reason}`);
    },
    mended: count,
    rested: count,
  };
};
