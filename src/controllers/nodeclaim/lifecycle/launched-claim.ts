/** What is written on a claim once its machine is launched. */
import {
  LABEL_CAPACITY_TYPE,
  LABEL_INSTANCE_TYPE,
  LABEL_ZONE,
  nodeClassLabel,
} from '../../../apis/karpenter/labels.ts';
import type { NodeClaim, NodeClaimStatus } from '../../../apis/karpenter/node-claim.ts';
import { quantities } from '../../../apis/kubernetes/resource-quantities.ts';
import type { Machine } from '../../../cloud/machine.ts';
import type { Labels, Resources } from '../../../engine/problem.ts';

/** The labels that the claim does not have yet. What was launched is a fact; other labels are as people wrote them. */
export function launchedLabels(claim: NodeClaim, { labels, instanceType, zone, capacityType }: Machine): Labels {
  const { nodeClassRef } = claim.spec;
  const own = claim.metadata.labels ?? {};
  const wanted: Labels = {
    ...labels,
    [nodeClassLabel(nodeClassRef)]: nodeClassRef.name,
    ...own,
    [LABEL_INSTANCE_TYPE]: instanceType,
    [LABEL_ZONE]: zone,
    [LABEL_CAPACITY_TYPE]: capacityType,
  };
  return missing(wanted, own);
}

/** What of these labels or annotations an object does not have. */
export function missing(wanted: Labels, own: Labels = {}): Labels {
  return Object.fromEntries(Object.entries(wanted).filter(([key, value]) => own[key] !== value));
}

/** The status without its conditions; what overlays add is there beside what the cloud knows of. */
export function launchedStatus(
  { providerID, imageID, capacity, allocatable }: Machine,
  added: Resources = {},
): NodeClaimStatus {
  return {
    providerID,
    ...(imageID === undefined ? {} : { imageID }),
    capacity: quantities({ ...capacity, ...added }),
    allocatable: quantities({ ...allocatable, ...added }),
  };
}
