import { LABEL_NODE_POOL, nodeClassLabel, TAINT_UNREGISTERED } from '../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import { TAG_CLAIM, TAG_CLAIM_UID, TAG_CLUSTER, TAG_POOL } from './labels.ts';
import type { RunRequest } from './simulated-cloud.ts';

/** The parameters of a machine for a claim that do not depend on the offering. */
export function launchRequest(claim: NodeClaim, cluster: string): Omit<RunRequest, 'offering'> {
  const { name = '', uid = '', labels = {} } = claim.metadata;
  const { taints = [], startupTaints = [], nodeClassRef } = claim.spec;
  return {
    token: uid,
    // Only a machine planned for a reservation by ID may use it. Other launches must not take its slots.
    openReservations: 'none',
    tags: {
      [TAG_CLUSTER]: cluster,
      [TAG_CLAIM]: name,
      [TAG_CLAIM_UID]: uid,
      [TAG_POOL]: labels[LABEL_NODE_POOL] ?? '',
      [nodeClassLabel(nodeClassRef)]: nodeClassRef.name,
    },
    bootstrap: { labels, taints: [...taints, ...startupTaints, TAINT_UNREGISTERED] },
  };
}
