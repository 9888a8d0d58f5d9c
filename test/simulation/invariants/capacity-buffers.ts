/**
 * Without faults, buffers have their room or report why not. While nothing changes, no machine is launched for them: consolidation must not
 * remove nodes that are then launched again.
 */
import { CAPACITY_BUFFERS } from '../../../src/apis/autoscaling/capacity-buffer.ts';
import { conditionOf } from '../../../src/apis/karpenter/conditions.ts';
import type { NodeClaim } from '../../../src/apis/karpenter/node-claim.ts';
import { ANNOTATION_REPLACES } from '../../../src/apis/spindrift/annotations.ts';
import { plannedFor } from '../../../src/state/planned-for.ts';
import type { InvariantMaker } from '../invariant.ts';

/** The last part of the rest, in which nothing should change. */
const STILL_MS = 60 * 60_000;

export const capacityBuffers: InvariantMaker = (facts, broken) => {
  /** Launch times of machines for buffers, by claim name. */
  const launched = new Map<string, number>();
  const check = (): void => {
    for (const buffer of facts.list(CAPACITY_BUFFERS)) {
      const { name } = buffer.metadata;
      const provisioning = conditionOf(buffer, 'Provisioning');
      const replicas = buffer.status?.replicas ?? 0;
      if (replicas !== buffer.spec.replicas)
        broken(`buffer ${name} has ${replicas} replicas and not ${buffer.spec.replicas}`);
      if (replicas === 0 || provisioning?.status === 'True') continue;
      // Pool limits may leave no room, and starting nodes count as planned.
      if (!/there is none: |that are starting/.test(provisioning?.message ?? ''))
        broken(`buffer ${name} has no room and does not say why: ${JSON.stringify(provisioning)}`);
    }
  };
  return {
    written({ collection, object, type }) {
      if (collection !== 'nodeclaims.karpenter.sh' || type !== 'ADDED') return;
      const claim = object as NodeClaim;
      if (claim.metadata.annotations?.[ANNOTATION_REPLACES] !== undefined) return;
      const uids = facts.list(CAPACITY_BUFFERS).map(({ metadata }) => metadata.uid ?? '');
      if ([...plannedFor(claim).keys()].some((demand) => uids.some((uid) => demand.startsWith(`${uid}:`))))
        launched.set(claim.metadata.name ?? '', facts.now);
    },
    mended: check,
    rested() {
      check();
      const expires = facts.pools.some(({ spec }) => spec.template.spec.expireAfter !== 'Never');
      const ends = facts.plan.account.reservations.some(({ endsAt = 0 }) => endsAt >= facts.now - 2 * STILL_MS);
      const late = [...launched].filter(([, at]) => at >= facts.now - STILL_MS);
      if (late.length > 0 && !expires && !ends)
        broken(
          `${late.length} machines were launched for buffers in an hour in which nothing had changed for an hour, such as ${late[0]?.[0]}`,
        );
    },
  };
};
