/** The labels and status that a claim gets once its machine is launched. */
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

/** The labels that the claim lacks. Type, zone and capacity type are those of the machine; the claim's other labels win. */
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

/** The labels or annotations that an object lacks or has with another value. */
export function missing(wanted: Labels, own: Labels = {}): Labels {
  return Object.fromEntries(Object.entries(wanted).filter(([key, value]) => own[key] !== value));
}

/** The status without conditions; `added` are the resources of NodeOverlays. */
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
